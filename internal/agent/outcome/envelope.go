package outcome

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

// Expect describes the report that a critic was asked for. Envelope and report are checked
// against it.
type Expect struct {
	Task  string
	Round int
	// RunID is optional in an envelope.
	RunID string
	// ReportPath is absolute.
	ReportPath string
	// SameFile reports whether two absolute paths lead to the same file, since temporary
	// directories are often reached through a link. It may be nil.
	SameFile func(a, b string) bool
	// Began is the start of the agent. An older report is stale.
	Began time.Time
}

// EnvelopeBody is the content of an envelope.
type EnvelopeBody struct {
	Critic     string
	Task       string
	Round      int
	Passed     bool
	Blockers   int
	ReportPath string // "" for null
	RunID      string
	Error      string
}

// ReadEnvelope finds the envelope in an agent's final message and checks it. It may
// stand alone, in a code fence or in prose, and more than once if all copies agree. The
// body is nil if the envelope is absent, invalid or ambiguous.
//
// An object with one of the keys report_path and blockers_count is an envelope.
func ReadEnvelope(text string, e Expect) (Envelope, *EnvelopeBody) {
	if len(text) > jsonscan.MaxBytes {
		return EnvelopeInvalid, nil
	}
	var body *EnvelopeBody
	for _, o := range jsonscan.Objects(text) {
		if !o.Has("report_path", "blockers_count") {
			continue
		}
		next, ok := decodeEnvelope(o)
		if !ok {
			return EnvelopeInvalid, nil
		}
		if body != nil && *body != *next {
			return EnvelopeAmbiguous, nil
		}
		body = next
	}
	if body == nil {
		return EnvelopeAbsent, nil
	}
	return body.check(e), body
}

// decodeEnvelope decodes an envelope strictly: duplicate keys, missing keys and values of
// another type are errors.
func decodeEnvelope(o jsonscan.Object) (*EnvelopeBody, bool) {
	var wire struct {
		Critic     *string        `json:"critic"`
		Task       *string        `json:"task_id"`
		Round      jsontext.Value `json:"round"`
		Verdict    string         `json:"verdict"`
		Blockers   jsontext.Value `json:"blockers_count"`
		ReportPath jsontext.Value `json:"report_path"`
		RunID      string         `json:"run_id"`
		Error      jsontext.Value `json:"error"`
	}
	if !o.Whole || json.Unmarshal(o.Text, &wire) != nil || wire.Critic == nil || wire.Task == nil {
		return nil, false
	}
	passed, ok1 := passes(wire.Verdict)
	round, ok2 := count(wire.Round)
	blockers, ok3 := count(wire.Blockers)
	path, ok4 := textOrNull(wire.ReportPath)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, false
	}
	failure, ok := textOrNull(wire.Error)
	if !ok && wire.Error != nil {
		failure = string(wire.Error) // Not a string, but it still says that something failed.
	}
	return &EnvelopeBody{
		Critic: *wire.Critic, Task: *wire.Task, Round: round, Passed: passed, Blockers: blockers,
		ReportPath: path, RunID: wire.RunID, Error: failure,
	}, true
}

func (b *EnvelopeBody) check(e Expect) Envelope {
	switch {
	case b.Error != "" || b.ReportPath == "":
		return EnvelopeError
	case b.Task != e.Task:
		return EnvelopeWrongTask
	case b.Round != e.Round:
		return EnvelopeWrongRound
	case b.RunID != "" && b.RunID != e.RunID:
		return EnvelopeWrongRun
	case b.Passed && b.Blockers > 0:
		return EnvelopeInconsistent
	case !e.isReportPath(b.ReportPath):
		return EnvelopeOutside
	default:
		return EnvelopeOK
	}
}

// isReportPath reports whether path is the path of the report. A relative path is not: only
// the agent knows its base.
func (e Expect) isReportPath(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	return filepath.Clean(path) == filepath.Clean(e.ReportPath) || e.SameFile != nil && e.SameFile(path, e.ReportPath)
}

func passes(verdict string) (passed, ok bool) {
	return verdict == "passed", verdict == "passed" || verdict == "issues_found"
}

// count parses a number of plain digits. It refuses 1e3 and 1.0, about which programs
// disagree.
func count(v jsontext.Value) (int, bool) {
	n, err := strconv.ParseUint(string(v), 10, 31)
	return int(n), err == nil
}

func textOrNull(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case 'n':
		return "", true
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		return string(text), err == nil
	default:
		return "", false
	}
}
