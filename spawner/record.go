package spawner

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/safetext"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

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
		if text = safetext.JSON(text); len(text) < maxLine {
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

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// record writes down what was seen.
func (t *try) record(r ran, res Result, changed []string) Record {
	rec := Record{
		RunID: t.at.Run, Task: t.job.Task, Round: t.job.Round, Agent: t.job.Agent.Name, AgentSHA256: bare(t.job.Agent.Digest),
		Adapter: t.at.Adapter, Bin: t.bin, Attempt: t.at.N, Why: t.at.Why,
		StartedAt: r.start.UTC().Format(timeFormat), EndedAt: r.end.UTC().Format(timeFormat), DurationMS: r.end.Sub(r.start).Milliseconds(),
		PID: r.PID, ExitCode: r.ExitCode, Signal: r.Signal, End: string(r.End), TimedOut: r.End == supervise.TimedOut || r.End == supervise.Idle,
		PromptSHA256: bare(t.at.Prompt), PromptBytes: int64(len(t.prompt)), StderrExcerpt: res.Stderr,
		TokensIn: r.output.Tokens.In, TokensOut: r.output.Tokens.Out, TokensCached: r.output.Tokens.Cached, CostMicroDollars: r.output.Dollars,
		Session: excerpt(r.output.Session), PayloadParseOK: r.output.Valid,
		Outcome: string(res.Verdict.Outcome), Reason: string(res.Verdict.Reason), Class: string(res.Verdict.Class),
		ToolUses: r.output.ToolCount,
	}
	if res.Report != nil {
		rec.ReportSHA256 = sum(res.Report)
	}
	if r.err != nil && !r.cancelled {
		rec.Notes = append(rec.Notes, excerpt(r.err.Error()))
	}
	if res.Objection != nil {
		rec.Notes = append(rec.Notes, excerpt(res.Objection.Error()))
	}
	if rec.End == "" {
		rec.End = string(killed(r))
	}
	if r.output.Model != "" {
		model := excerpt(r.output.Model)
		rec.Model = &model
	}
	for _, tool := range r.output.Tools {
		if tool.Search {
			rec.Searches++
		}
	}
	rec.Denials, rec.Changed = excerpts(r.output.Denials), excerpts(changed)
	rec.Notes = append(rec.Notes, excerpts(r.output.Notes)...)
	if f := r.output.Failure; f != nil {
		rec.Notes = append(rec.Notes, excerpt(f.Message))
	}
	rec.ResponseSHA256, rec.ResponseBytes, _ = hexOf(t.stdout) // A file of our own that was just read.
	return rec
}

// maxText is how long a text of an agent in a record may be, in code points.
const maxText = 300

// excerpt is what a record keeps of a text of an agent. Secrets go before anything
// is cut.
func excerpt(text string) string { return errs.Clip(redact.Text(text), maxText) }

func excerpts(texts []string) (kept []string) {
	for _, text := range texts {
		kept = append(kept, excerpt(text))
	}
	return kept
}
