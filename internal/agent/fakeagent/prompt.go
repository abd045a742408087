package fakeagent

import (
	"cmp"
	"strconv"
	"strings"
)

// Brief is the request in a prompt. Missing fields are empty.
type Brief struct {
	Task, RunID, ReportPath string
	Round                   int
}

// or fills missing fields from the variables that every agent gets.
func (b Brief) or(getenv func(string) string) Brief {
	b.Task, b.RunID, b.ReportPath = cmp.Or(b.Task, getenv(taskVariable)), cmp.Or(b.RunID, getenv(runVariable)), cmp.Or(b.ReportPath, getenv(reportVariable))
	if b.Round == 0 {
		b.Round, _ = strconv.Atoi(getenv(roundVariable))
	}
	return b
}

// ReadBrief parses the labelled lines of a prompt. The last line with a label counts,
// since an introduction may explain the labels.
func ReadBrief(prompt string) Brief {
	var b Brief
	for line := range strings.Lines(prompt) {
		label, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		if !ok {
			continue
		}
		switch label {
		case "task_id":
			b.Task = value
		case "round":
			if n, err := strconv.Atoi(value); err == nil {
				b.Round = n
			}
		case "run_id":
			b.RunID = value
		case "report_path":
			b.ReportPath = value
		}
	}
	return b
}

// fill replaces the variables in a text of a step.
func (b Brief) fill(text string) string {
	return strings.NewReplacer("{task_id}", b.Task, "{round}", strconv.Itoa(b.Round), "{run_id}", b.RunID,
		"{report_path}", b.ReportPath).Replace(text)
}
