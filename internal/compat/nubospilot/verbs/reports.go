package verbs

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// ReadFile reads a file that a flag names.
type ReadFile func(path string) ([]byte, error)

// CriticOutputs returns the critics' reports for post-critics, one or several, as JSON.
func (in Input) CriticOutputs(read ReadFile) ([]byte, error) {
	text, kind, reports, err := in.reports("critic-outputs", errs.LoopRunRoundPostCriticsConflictingOutputs, read)
	switch {
	case err != nil:
		return nil, err
	case len(text) == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputs, "no report is given")
	case kind == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputsInvalidJSON, "--critic-outputs is not JSON")
	case kind != '[' && in.Given("critic-outputs"):
		return nil, errs.New(errs.LoopRunRoundPostCriticsInvalidOutputs, "--critic-outputs is not a list")
	case len(reports) == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsEmptyOutputs, "the list of reports is empty: no critic has reported")
	}
	return text, nil
}

// Findings returns the report with the findings for a stopped task, nil if the task keeps
// its own.
func (in Input) Findings(read ReadFile) ([]byte, error) {
	text, kind, items, err := in.reports("findings", errs.LoopRunRoundStuckConflictingFindings, read)
	switch {
	case err != nil || text == nil:
		return nil, err
	case kind != '[' && kind != '{':
		return nil, errs.New(errs.LoopRunRoundStuckInvalidFindings, "--findings is neither a JSON list nor a report")
	case !hasReport(items):
		text = append(append([]byte(`{"critic":"critic","findings":`), text...), '}')
	}
	return text, nil
}

// reports returns the text of a flag, or of the file that its other form names, and the
// result of parseReports. The text is nil if neither is given. A file must contain one
// report or a list of them.
func (in Input) reports(flag string, conflict errs.Code, read ReadFile) ([]byte, jsontext.Kind, []jsontext.Value, error) {
	pathFlag := flag + "-path"
	var text []byte
	switch {
	case in.Given(flag) && in.Given(pathFlag):
		return nil, 0, nil, errs.New(conflict, "--%s and --%s are both given", flag, pathFlag)
	case in.Given(flag):
		text = []byte(in.Text(flag))
	case in.Given(pathFlag):
		path := in.Text(pathFlag)
		var err error
		if text, err = read(path); err != nil {
			return nil, 0, nil, err
		}
		switch kind, _ := parseReports(text); kind {
		case '[', '{':
		case 0:
			return nil, 0, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidJSON, "%s is not JSON", path).With("path", path)
		default:
			return nil, 0, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidShape, "%s is neither a report nor a list of reports", path).With("path", path)
		}
	}
	kind, items := parseReports(text)
	return text, kind, items, nil
}

// parseReports returns the kind of a JSON value, 0 if it is not JSON, and the items of a
// list, or the value itself. The report's plugin checks the rest.
func parseReports(text []byte) (jsontext.Kind, []jsontext.Value) {
	lax := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value := jsontext.Value(text)
	if !value.IsValid(lax) {
		return 0, nil
	}
	if value.Kind() != '[' {
		return value.Kind(), []jsontext.Value{value}
	}
	var items []jsontext.Value
	if err := json.Unmarshal(text, &items, lax); err != nil {
		return 0, nil
	}
	return '[', items
}

// hasReport distinguishes a list of reports from one of findings: a report has lists
// itself.
func hasReport(items []jsontext.Value) bool {
	for _, item := range items {
		var report struct {
			Findings jsontext.Value `json:"findings"`
			Criteria jsontext.Value `json:"criteria"`
		}
		err := json.Unmarshal(item, &report, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err == nil && (report.Findings != nil || report.Criteria != nil) {
			return true
		}
	}
	return false
}

// LastResult finds the last line of an output that is a final event of the claude CLI,
// and returns its offset and its size in bytes, which is 0 if there is none. Lines longer
// than limit are skipped.
func LastResult(output io.Reader, limit int) (at, size int64, err error) {
	lines := bufio.NewReaderSize(output, limit)
	partial := false // The line began in an earlier read.
	for offset := int64(0); ; {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if !partial && !long && isResult(line) {
			at, size = offset, int64(len(line))
		}
		offset += int64(len(line))
		switch partial = long; {
		case errors.Is(err, io.EOF):
			return at, size, nil
		case err != nil && !long:
			return 0, 0, err
		}
	}
}

// isResult distinguishes the claude CLI's final event from those of other CLIs, which may
// have the same type.
func isResult(line []byte) bool {
	if !bytes.Contains(line, []byte(`"is_error"`)) {
		return false // Not worth parsing.
	}
	var event struct {
		Type    string `json:"type"`
		IsError *bool  `json:"is_error"`
	}
	err := json.Unmarshal(line, &event, jsontext.AllowInvalidUTF8(true))
	return err == nil && event.Type == "result" && event.IsError != nil
}
