package outcome

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reportBody is what binds a report. Findings and criteria stay as they are
// until it is known to be one.
type reportBody struct {
	Critic     *string        `json:"critic"`
	Task       *string        `json:"task_id"`
	Round      jsontext.Value `json:"round"`
	Verdict    string         `json:"verdict"`
	Findings   jsontext.Value `json:"findings"`
	Criteria   jsontext.Value `json:"criteria"`
	Blockers   jsontext.Value `json:"blockers_count"`
	ReportPath jsontext.Value `json:"report_path"`
}

func readReport(data []byte, e Expect, env *EnvelopeBody) (File, Summary) {
	text := jsontext.Value(bytes.TrimPrefix(data, []byte("\ufeff"))) // A byte order mark, as the plugins read it.
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return FileEmpty, Summary{}
	case !text.IsValid():
		return FileInvalid, Summary{}
	case text.Kind() != '{':
		return FileNotAReport, Summary{}
	}
	var r reportBody
	if json.Unmarshal(text, &r) != nil {
		return FileInvalid, Summary{}
	}
	if r.Blockers != nil || r.ReportPath != nil || r.Findings.Kind() != '[' && r.Criteria.Kind() != '[' {
		return FileNotAReport, Summary{}
	}
	if state := r.bind(e, env); state != FileOK {
		return state, Summary{}
	}
	s, ok := r.count()
	if !ok {
		return FileInvalid, Summary{}
	}
	if passed, _ := passes(r.Verdict); passed != s.Passed {
		return FileContradicts, s
	}
	if env != nil && (env.Passed != s.Passed || env.Blockers != s.Blockers) {
		return FileContradicts, s
	}
	return FileOK, s
}

// bind holds what the report is about against what was asked for.
func (r *reportBody) bind(e Expect, env *EnvelopeBody) File {
	round, ok1 := count(r.Round)
	_, ok2 := passes(r.Verdict)
	switch {
	case r.Critic == nil || r.Task == nil || !ok1 || !ok2:
		return FileInvalid
	case e.Critic != "" && *r.Critic != e.Critic, env != nil && *r.Critic != env.Critic:
		return FileWrongCritic
	case *r.Task != e.Task:
		return FileWrongTask
	case round != e.Round:
		return FileWrongRound
	default:
		return FileOK
	}
}

// count counts what the report holds. It fails where the np-critic plugin
// would: on lists that are none, on items that are no objects, and on a report
// in which nothing was judged.
func (r *reportBody) count() (Summary, bool) {
	var findings []struct {
		Severity jsontext.Value `json:"severity"`
	}
	var criteria []struct {
		Verdict jsontext.Value `json:"verdict"`
	}
	if !readList(r.Findings, &findings) || !readList(r.Criteria, &criteria) {
		return Summary{}, false
	}
	if r.Findings == nil && len(criteria) == 0 {
		return Summary{}, false
	}
	s := Summary{Findings: len(findings)}
	for _, f := range findings {
		severity, ok := "", f.Severity == nil
		if !ok {
			severity, ok = textOrNull(f.Severity)
		}
		if !ok {
			return Summary{}, false
		}
		if severity == "" || severity == "fail" { // Absent means fail.
			s.Blockers++
		}
	}
	for _, c := range criteria {
		verdict, _ := textOrNull(c.Verdict)
		switch verdict {
		case "Satisfied":
		case "Information-Missing":
			s.Unsatisfied++
		default: // Nobody has vouched for it in the words that were agreed.
			s.Unsatisfied++
			s.Blockers++
		}
	}
	s.Passed = s.Findings+s.Unsatisfied == 0
	return s, true
}

// readList reads an array of objects, or nothing where there is none.
func readList[T any](list jsontext.Value, into *[]T) bool {
	if list == nil {
		return true
	}
	var items []jsontext.Value
	if list.Kind() != '[' || json.Unmarshal(list, &items) != nil {
		return false
	}
	for _, item := range items {
		if item.Kind() != '{' {
			return false // Null would pass for an empty object.
		}
	}
	return json.Unmarshal(list, into) == nil
}
