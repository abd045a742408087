package outcome

import (
	"bytes"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

// Expect is what a critic was asked for. Envelope and report are held against it.
type Expect struct {
	// Critic is whose report it must be; empty is anybody's.
	Critic string
	// Task and Round are what must have been reviewed.
	Task  string
	Round int
	// RunID is the run's, which an envelope may repeat; it must not name another.
	RunID string
	// ReportPath is where the report was to be written, absolute.
	ReportPath string
	// SameFile reports whether two absolute paths lead to one file, asking the
	// file system: temporary folders are often reached through a link. Nil is
	// never.
	SameFile func(a, b string) bool
	// Began is when the agent was started. No older report is its own.
	Began time.Time
}

// EnvelopeBody is what an envelope says.
type EnvelopeBody struct {
	Critic     string
	Task       string
	Round      int
	Passed     bool
	Blockers   int
	ReportPath string // empty where it was null
	RunID      string
	Error      string
}

// ReadEnvelope finds the envelope in an agent's final message and checks it.
// It may stand alone, in a code fence or amid prose, and more than once as long
// as all agree. The body is nil where there is none to speak of: the envelope
// is absent, invalid or ambiguous.
//
// An object is taken for an envelope by its keys report_path or blockers_count,
// which nothing else has that a critic writes.
func ReadEnvelope(text string, e Expect) (Envelope, *EnvelopeBody) {
	if len(text) > jsonscan.MaxBytes {
		return EnvelopeInvalid, nil
	}
	var body *EnvelopeBody
	for _, o := range jsonscan.Objects(text) {
		if !claims(o) {
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

// claims reports whether an object wants to be an envelope.
func claims(o jsonscan.Object) bool {
	const path, blockers = "report_path", "blockers_count"
	if !o.Whole {
		return bytes.Contains(o.Text, []byte(`"`+path+`"`)) || bytes.Contains(o.Text, []byte(`"`+blockers+`"`))
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(o.Text, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return true
	}
	_, ok1 := members[path]
	_, ok2 := members[blockers]
	return ok1 || ok2
}

// decodeEnvelope reads an envelope, strictly: no key twice, none of those that
// every envelope has missing, no value of another type.
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
		failure = string(wire.Error) // No string, and yet it says that something failed.
	}
	return &EnvelopeBody{
		Critic: *wire.Critic, Task: *wire.Task, Round: round, Passed: passed, Blockers: blockers,
		ReportPath: path, RunID: wire.RunID, Error: failure,
	}, true
}

// check holds the envelope against what was asked for. That the critic failed
// comes first: what else it says is then of no matter.
func (b *EnvelopeBody) check(e Expect) Envelope {
	switch {
	case b.Error != "" || b.ReportPath == "":
		return EnvelopeError
	case e.Critic != "" && b.Critic != e.Critic:
		return EnvelopeWrongCritic
	case b.Task != e.Task:
		return EnvelopeWrongTask
	case b.Round != e.Round:
		return EnvelopeWrongRound
	case b.RunID != "" && b.RunID != e.RunID:
		return EnvelopeWrongRun
	case b.Passed && b.Blockers > 0:
		return EnvelopeInconsistent
	case !e.names(b.ReportPath):
		return EnvelopeElsewhere
	default:
		return EnvelopeOK
	}
}

// names reports whether path is the report's. A relative path is not: relative
// to what, only the agent knows.
func (e Expect) names(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	return filepath.Clean(path) == filepath.Clean(e.ReportPath) || e.SameFile != nil && e.SameFile(path, e.ReportPath)
}

// passes reads a verdict.
func passes(verdict string) (passed, ok bool) {
	return verdict == "passed", verdict == "passed" || verdict == "issues_found"
}

// count reads a number of plain digits. 1e3 and 1.0 are numbers too, but not
// every program reads them alike.
func count(v jsontext.Value) (int, bool) {
	n, err := strconv.ParseUint(string(v), 10, 31)
	return int(n), err == nil
}

// textOrNull reads a string that may be null; one that is missing is neither.
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
