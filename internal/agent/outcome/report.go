package outcome

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxReport is the size of the largest report in bytes (docs/adr/0005-reports.md).
const MaxReport = 32 << 20

// MaxOutput bounds what an agent may write to standard output and standard error together, in
// bytes.
const MaxOutput = 64 << 20

// Summary counts the contents of a report.
type Summary struct {
	// Findings counts the findings of any severity.
	Findings int
	// Unsatisfied counts the criteria that are not satisfied or lack information.
	Unsatisfied int
	// Blockers is the number that an envelope must repeat: the findings of severity fail and
	// the unsatisfied criteria, without criteria that lack information.
	Blockers int
	// Passed is set if there are neither findings nor unsatisfied criteria.
	Passed bool
}

// CheckReport compares a report file, given by its content and modification time, with e and
// with the envelope, if any. It does not check whether the findings are well formed: the
// np-critic plugin does. The caller checks that the file is regular; the first MaxReport+1
// bytes are enough. The summary is valid only with FileOK.
func CheckReport(data []byte, modified time.Time, e Expect, env *EnvelopeBody) (File, Summary) {
	text := jsontext.Value(bytes.TrimPrefix(data, []byte("\ufeff"))) // A byte order mark, as the plugins read it.
	switch {
	case !isFresh(modified, e.Began):
		return FileStale, Summary{}
	case len(data) > MaxReport:
		return FileTooLarge, Summary{}
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
	if state := r.checkSubject(e, env); state != FileOK {
		return state, Summary{}
	}
	s, ok := r.summarize()
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

// Time stamps of files are coarser than the clock: the kernel updates them every 10 ms at
// worst, and some file systems store whole seconds, FAT only even ones.
const (
	tick        = 10 * time.Millisecond
	coarseStamp = 2 * time.Second
)

// isFresh reports whether a file with that time can have been written since began.
func isFresh(modified, began time.Time) bool {
	began = began.Round(0) // Files have no monotonic clock.
	slack := tick
	if modified.Nanosecond() == 0 {
		slack = coarseStamp
	}
	return modified.After(began.Add(-slack))
}

// reportBody is the part of a report that is checked here.
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

// checkSubject checks the critic, the task and the round of the report.
func (r *reportBody) checkSubject(e Expect, env *EnvelopeBody) File {
	round, ok1 := count(r.Round)
	_, ok2 := passes(r.Verdict)
	switch {
	case r.Critic == nil || r.Task == nil || !ok1 || !ok2:
		return FileInvalid
	case env != nil && *r.Critic != env.Critic:
		return FileWrongCritic
	case *r.Task != e.Task:
		return FileWrongTask
	case round != e.Round:
		return FileWrongRound
	default:
		return FileOK
	}
}

// summarize counts the contents of the report. Like the np-critic plugin, it fails if findings
// or criteria are not a list, if an item is not an object, or if the report judges nothing.
func (r *reportBody) summarize() (Summary, bool) {
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
		severity, ok := textOrNull(f.Severity)
		if !ok && f.Severity != nil {
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
		default: // An unknown word counts as unsatisfied.
			s.Unsatisfied++
			s.Blockers++
		}
	}
	s.Passed = s.Findings+s.Unsatisfied == 0
	return s, true
}

// readList reads an array of objects. A missing list is empty.
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
