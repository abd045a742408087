package spawner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/folder"
)

// CodeTrail: the record of a spawn cannot be made durable, so that its output is
// not handed on.
const CodeTrail fault.Code = "spawn-trail-failed"

// TrailFile is the name of the file in the state folder that has a line of JSON
// for every attempt that became a process.
const TrailFile = "spawns.jsonl"

// maxLine is how long a line of the trail may be, in bytes: appended in one
// write, lines of several processes do not mix.
const maxLine = 16 << 10

// Record is what is known of one attempt: a line of the trail, and evidence in
// the ledger. It is redacted.
type Record struct {
	RunID string `json:"run_id"`
	// Task and Round are those that it ran for, "" and 0 for none.
	Task  string `json:"task_id,omitzero"`
	Round int    `json:"round,omitzero"`
	Agent string `json:"agent"`
	// AgentSHA256 is the digest of the agent's definition.
	AgentSHA256 string `json:"agent_sha256"`
	Adapter     string `json:"adapter"`
	Bin         string `json:"bin"`
	// Attempt counts from 1 over retries and fallbacks, and Why says why it was
	// made: first, retry:CLASS, fallback:CLASS or resume.
	Attempt   int    `json:"attempt"`
	Why       string `json:"why"`
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at"`
	// DurationMS is in milliseconds.
	DurationMS int64  `json:"duration_ms"`
	PID        int    `json:"pid"`
	ExitCode   int    `json:"exit_code"`
	Signal     string `json:"signal,omitzero"`
	// End is why it ended: exited, or why we ended it.
	End      string `json:"end"`
	TimedOut bool   `json:"timed_out"`
	// The prompt is what went to standard input, and the response what came from
	// standard output. The digests in a record are 64 hex digits.
	PromptSHA256   string `json:"prompt_sha256"`
	PromptBytes    int64  `json:"prompt_bytes"`
	ResponseSHA256 string `json:"response_sha256"`
	ResponseBytes  int64  `json:"response_bytes"`
	StderrExcerpt  string `json:"stderr_excerpt"`
	// What nobody said is null.
	Model            *string `json:"model_actual"`
	TokensIn         *int64  `json:"tokens_in"`
	TokensOut        *int64  `json:"tokens_out"`
	TokensCached     *int64  `json:"tokens_cached"`
	CostMicroDollars *int64  `json:"cost_microdollars"`
	Session          string  `json:"session_id,omitzero"`
	// PayloadParseOK says that the output had the form that its adapter promises.
	PayloadParseOK bool `json:"payload_parse_ok"`
	// Outcome, Reason and Class are the verdict.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitzero"`
	Class   string `json:"class,omitzero"`
	// Next says what follows: retry, fallback, or "" where this attempt counts.
	Next string `json:"next,omitzero"`
	// ToolUses counts the tools that it was seen to use, and Searches those of
	// them that search.
	ToolUses int      `json:"tool_uses"`
	Searches int      `json:"searches"`
	Denials  []string `json:"denials,omitzero"`
	// Changed lists what differs in the working tree.
	Changed []string `json:"changed,omitzero"`
	// ReportSHA256 is the digest of the report, "" for none.
	ReportSHA256 string   `json:"report_sha256,omitzero"`
	Notes        []string `json:"notes,omitzero"`
}

// line is the record as a line of the trail. Lists and excerpts give way where
// it would become too long.
func (r Record) line() ([]byte, error) {
	for _, shorten := range []func(){
		func() {},
		func() { r.Notes = nil },
		func() { r.Changed, r.Denials = clip(r.Changed), clip(r.Denials) },
		func() { r.StderrExcerpt = "" },
		func() { r.Changed, r.Denials = nil, nil },
	} {
		shorten()
		text, err := json.Marshal(r, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		if len(text) < maxLine {
			return append(text, '\n'), nil
		}
	}
	return nil, fmt.Errorf("the record has more than %d bytes", maxLine)
}

// maxClipped is how many entries a list of a long record keeps.
const maxClipped = 20

func clip(list []string) []string {
	if len(list) <= maxClipped {
		return list
	}
	return append(list[:maxClipped:maxClipped], fmt.Sprintf("and %d more", len(list)-maxClipped))
}

// trail appends to the file of records.
type trail struct{ state string }

// append makes a record durable and returns the digest of its line.
func (t trail) append(r Record) (digest string, err error) {
	line, err := r.line()
	if err == nil {
		err = t.write(line)
	}
	if err != nil {
		return "", fault.New(CodeTrail, "the record of run %s cannot be kept: %w", r.RunID, folder.Reason(err)).With("path", TrailFile)
	}
	return Digest(line), nil
}

func (t trail) write(line []byte) (err error) {
	root, err := folder.Make(t.state)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(TrailFile, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		f, err = folder.OpenFile(root, TrailFile, os.O_RDWR|os.O_APPEND)
	case err == nil:
		err = folder.Flush(root, ".")
	}
	if f == nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err != nil {
		return err
	}
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	return f.Sync()
}

// torn reports whether the last line was cut off, as by a full disk: then ours
// must not be joined to it.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// digestPrefix begins a digest that stands alone.
const digestPrefix = "sha256:"

// Digest is the digest of a text, in the form that reports' digests have.
func Digest(text []byte) string { return digestPrefix + sum(text) }

// sum is a digest in hex digits.
func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// bare is a digest without what says of which kind it is.
func bare(digest string) string { return strings.TrimPrefix(digest, digestPrefix) }
