package spawner

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxLine is how long a line of the trail may be, in bytes: appended in one
// write, lines of several processes do not mix.
const maxLine = 16 << 10

// Record is what is known of one attempt: a line of the trail, and evidence in the
// ledger.
type Record = outcome.Record

// lineOf is the record as a line of the trail. Lists and excerpts give way where
// it would become too long.
func lineOf(r Record) ([]byte, error) {
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
		if text = textutil.JSON(text); len(text) < maxLine {
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
func (t *attempt) record(r processResult, res Result, changed []string) Record {
	rec := Record{
		RunID: t.at.Run, Task: t.job.Task, Round: t.job.Round, Agent: t.job.Agent.Name, AgentSHA256: bare(t.job.Agent.Digest),
		Adapter: t.at.Adapter, Bin: t.bin, Attempt: t.at.N, Why: t.at.Why,
		StartedAt: r.start.UTC().Format(timeFormat), EndedAt: r.end.UTC().Format(timeFormat), DurationMS: r.end.Sub(r.start).Milliseconds(),
		PID: r.PID, ExitCode: r.ExitCode, Signal: r.Signal, End: string(r.End), TimedOut: r.End == supervise.TimedOut || r.End == supervise.Idle,
		PromptSHA256: bare(t.at.Prompt), PromptBytes: int64(len(t.prompt)), StderrExcerpt: res.Stderr,
		TokensIn: r.output.Tokens.In, TokensOut: r.output.Tokens.Out, TokensCached: r.output.Tokens.Cached, CostMicroDollars: r.output.Dollars,
		Session: excerpt(r.output.Session), PayloadParseOK: r.output.Valid,
		Outcome: res.Verdict.Outcome, Reason: res.Verdict.Reason, Class: res.Verdict.Class,
		ToolUses: r.output.ToolCount,
	}
	if res.Report != nil {
		rec.ReportSHA256 = sum(res.Report)
	}
	if r.err != nil && !r.cancelled {
		rec.Notes = append(rec.Notes, excerpt(r.err.Error()))
	}
	if res.CheckErr != nil {
		rec.Notes = append(rec.Notes, excerpt(res.CheckErr.Error()))
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
func excerpt(text string) string { return textutil.Clip(redact.Text(text), maxText) }

func excerpts(texts []string) (kept []string) {
	for _, text := range texts {
		kept = append(kept, excerpt(text))
	}
	return kept
}
