// A plugin that reads the reports of todo-scan, a made-up tool:
//
//	{"tool": "todo-scan", "complete": true, "items": [
//	  {"path": "./a.go", "line": 7, "tag": "FIXME", "priority": "high", "text": "close the file"}
//	]}
package main

import (
	"math"
	"strings"

	"github.com/switchyard-dev/switchyard/plugins/sdk"
)

func init() {
	sdk.Register(sdk.Description{
		Name:    "todo-scan",
		Version: "1.0.0",
		Critic:  "todo-scan",
		Formats: []string{"application/json"},
		Detect:  []string{"/tool", "/items"},
		Items:   []string{"/items/*"},
	}, normalize)
}

func main() {}

// log is a report. Its fields are required, except for pointers and omitempty.
type log struct {
	Tool     string `json:"tool"`
	Complete bool   `json:"complete"`
	Items    []item `json:"items"`
}

type item struct {
	Path     string   `json:"path"`
	Line     *int     `json:"line"`
	Tag      string   `json:"tag"`
	Priority string   `json:"priority"`
	Labels   []string `json:"labels,omitempty"`
	Text     string   `json:"text"`
	Ignored  bool     `json:"ignored,omitempty"`
}

// severities maps the tool's priorities to severities.
var severities = map[string]sdk.Severity{"high": sdk.Risk, "low": sdk.Nit}

func normalize(report sdk.Report) (sdk.Answer, error) {
	var answer sdk.Answer
	categories, err := report.Categories("todo-marker")
	if err != nil {
		return answer, err
	}
	var log log
	if err := report.Decode(&log); err != nil {
		return answer, err
	}
	if log.Tool != "todo-scan" {
		return answer, report.Refuse("todo-scan-invalid", "/tool", "todo-scan")
	}
	if !log.Complete {
		// The files that the tool did not scan are unchecked.
		return answer, report.Fail("todo-scan-incomplete", "/complete", "the scan was not completed")
	}
	for i, item := range log.Items {
		ref := sdk.Pointer("items", i)
		severity, known := severities[item.Priority]
		switch {
		case item.Path == "":
			return answer, report.Refuse("todo-scan-invalid", ref+"/path", "a path")
		case item.Tag == "":
			return answer, report.Refuse("todo-scan-invalid", ref+"/tag", "a tag")
		case item.Line != nil && (*item.Line < 1 || *item.Line > math.MaxInt32):
			return answer, report.Refuse("todo-scan-invalid", ref+"/line", "a whole number from 1 to 2147483647")
		case !known:
			return answer, report.Refuse("todo-scan-unknown-priority", ref+"/priority", "high or low")
		}
		if item.Ignored {
			answer.Skipped = append(answer.Skipped, sdk.Skipped{Ref: ref, Reason: "ignored in the source"})
			continue
		}
		file := strings.TrimPrefix(item.Path, "./")
		answer.Findings = append(answer.Findings, sdk.Finding{
			Category:    categories.Of(item.Tag, item.Labels, item.Priority),
			Severity:    severity,
			File:        &file,
			Line:        item.Line,
			Remediation: item.Tag + ": " + item.Text,
			Ref:         ref,
		})
	}
	answer.Unmapped = categories.Unmapped()
	return answer, nil
}
