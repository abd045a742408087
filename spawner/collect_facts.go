package spawner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// collect gathers the facts about a run, and judges them. ctx bounds the comparison of the
// working tree, which may take long, and late bounds everything else. For an agent that edits,
// late bounds the comparison too, since the next run continues on the tree of a cancelled one.
func (a *attempt) collect(ctx, late context.Context, r processResult) Result {
	res := Result{Attempt: a.at, Output: r.output, SeesTools: a.adapter.SeesTools(), Stdout: a.stdout}
	facts := outcome.Facts{
		Started: r.started(), Killed: endCause(r), Exit: exitOf(r.Result), Text: textOf(r.output), Denials: len(r.output.Denials) > 0,
		Report: a.job.Profile == profile.Report, Edits: a.job.Profile == profile.Edit,
	}
	if r.output.Failure != nil {
		facts.Failure = r.output.Failure.Class
	}
	if facts.Report {
		a.checkReport(&res, &facts)
	}
	if a.adapter.Name() == execAdapter {
		ignoreOutput(&facts)
	}
	var err error
	var changed []string
	comparing := ctx
	if facts.Edits {
		comparing = late
	}
	switch res.Changes, res.After, err = a.changes(comparing); {
	case ctx.Err() != nil:
		facts.Killed = outcome.KilledCancelled
	case err != nil:
		changed = []string{"the working tree cannot be read: " + err.Error()}
	}
	for _, c := range res.Changes {
		changed = append(changed, strings.TrimSpace(fmt.Sprintf("%s %q %s", c.Kind, c.Path, c.Detail)))
	}
	facts.Changed = len(changed) > 0
	facts.Tree = a.treeState(res.Changes, err)
	res.Verdict = outcome.Judge(facts)
	if res.Verdict.Good() && a.job.Check != nil {
		res.CheckErr = a.job.Check(late, res)
		facts.Rejected = res.CheckErr != nil
		res.Verdict = outcome.Judge(facts)
	}
	res.Record = a.record(r, res, changed)
	if n := res.Record.ResponseBytes; n > 0 && a.Transcript != nil {
		res.Record.Transcript = a.Transcript(late, io.NewSectionReader(a.stdout, 0, n))
	}
	return res
}

// changes lists the changes of the working tree and of the project's files that affect later
// rounds, and returns the tree as it is now. If a file that changed during an earlier attempt
// was rewritten with the same content, this is a change too, since this agent made it.
func (a *attempt) changes(ctx context.Context) ([]worktree.Change, *worktree.Snapshot, error) {
	if a.confined.LeavesTree() {
		return nil, a.before.tree, nil // It did not cause changes that were made meanwhile.
	}
	edits := a.job.Profile == profile.Edit
	// An agent that may edit has no reason to hide an edit behind unchanged metadata.
	after, err := a.snapshots(ctx, nil, !edits)
	if err != nil {
		return nil, nil, err
	}
	before := a.before
	if edits {
		before = a.plan.first // It continues from the edits of earlier attempts.
	}
	changes := append(worktree.Compare(before.tree, after.tree), worktree.Rewritten(before.tree, after.tree, a.plan.suspects)...)
	if before.project != nil {
		changes = append(changes, worktree.Compare(before.project, after.project)...)
	}
	return changes, after.tree, nil
}

// treeState returns the state of the working tree of an agent that edits, from its changes or
// from the error of comparing it.
func (a *attempt) treeState(changes []worktree.Change, err error) outcome.Tree {
	if err != nil {
		if info, statErr := os.Stat(a.Tree); errors.Is(statErr, fs.ErrNotExist) || statErr == nil && !info.IsDir() {
			return outcome.TreeGone
		}
		return outcome.TreeUnreadable
	}
	in := func(area worktree.Area) bool {
		return slices.ContainsFunc(changes, func(c worktree.Change) bool { return c.Area == area })
	}
	switch {
	case in(worktree.Records):
		return outcome.TreeGitChanged
	case in(worktree.Deciding):
		return outcome.TreeProtectedChanged
	case in(worktree.Files), a.plan.edited:
		return outcome.TreeEdited
	default:
		return outcome.TreeUnchanged
	}
}

func (a *attempt) checkReport(res *Result, facts *outcome.Facts) {
	expect := outcome.Expect{
		Task: a.job.Task, Round: a.job.Round, RunID: a.at.Run, ReportPath: a.at.ReportPath, Began: a.began, SameFile: sameFile,
	}
	var body *outcome.EnvelopeBody
	facts.Envelope, body = outcome.ReadEnvelope(res.Output.Text, expect)
	data, modified, file := a.readReport(filepath.Join(reportFolder, filepath.Base(a.at.ReportPath)))
	facts.File = file
	if file == outcome.FileOK {
		var summary outcome.Summary
		facts.File, summary = outcome.CheckReport(data, modified, expect, body)
		facts.Passed = summary.Passed
		res.Report = data
	}
}

func (a *attempt) readReport(name string) ([]byte, time.Time, outcome.File) {
	f, err := safefile.OpenFile(a.dir.root, name, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, time.Time{}, outcome.FileAbsent
	case errors.Is(err, safefile.ErrNotRegular), errors.Is(err, safefile.ErrReplaced):
		return nil, time.Time{}, outcome.FileNotRegular
	case err != nil:
		return nil, time.Time{}, outcome.FileUnreadable
	}
	defer f.Close()
	info, err := f.Stat()
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, outcome.MaxReport+1))
	}
	if err != nil {
		return nil, time.Time{}, outcome.FileUnreadable
	}
	return data, info.ModTime(), outcome.FileOK
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// endCause returns the reason why we ended a run, "" if it ended by itself.
func endCause(r processResult) outcome.EndCause {
	switch {
	case r.cancelled:
		return outcome.KilledCancelled
	case r.err != nil:
		return outcome.KilledLost
	case r.End == supervise.Exited:
		return ""
	default:
		return outcome.EndCause(r.End)
	}
}

func exitOf(r supervise.Result) outcome.Exit {
	switch {
	case r.Signal != "":
		return outcome.ExitSignal
	case r.ExitCode != 0:
		return outcome.ExitNonzero
	default:
		return outcome.ExitZero
	}
}

func textOf(out adapter.Output) outcome.Text {
	switch {
	case !out.Valid:
		return outcome.TextUnreadable
	case !out.HasText:
		return outcome.TextAbsent
	case out.Text == "":
		return outcome.TextEmpty
	default:
		return outcome.TextPresent
	}
}

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// record describes the attempt for the run log and the ledger.
func (a *attempt) record(r processResult, res Result, changed []string) Record {
	rec := Record{
		RunID: a.at.Run, Task: a.job.Task, Round: a.job.Round, Agent: a.job.Agent.Name, AgentSHA256: digest.Bare(a.job.Agent.Digest),
		Adapter: a.at.Adapter, Bin: a.bin, Attempt: a.at.N, Why: a.at.Why,
		StartedAt: r.start.UTC().Format(timeFormat), EndedAt: r.end.UTC().Format(timeFormat), DurationMS: r.end.Sub(r.start).Milliseconds(),
		PID: r.PID, ExitCode: r.ExitCode, Signal: r.Signal, End: string(r.End), TimedOut: r.End == supervise.TimedOut || r.End == supervise.Idle,
		PromptSHA256: digest.Bare(a.at.Prompt), PromptBytes: int64(len(a.prompt)),
		TokensIn: r.output.Tokens.In, TokensOut: r.output.Tokens.Out, TokensCached: r.output.Tokens.Cached, CostMicroDollars: r.output.Dollars,
		Session: excerpt(r.output.Session), PayloadParseOK: r.output.Valid,
		Outcome: res.Verdict.Outcome, Reason: res.Verdict.Reason, Class: res.Verdict.Class,
		ToolUses: r.output.ToolCount, Denials: excerpts(r.output.Denials), Changed: excerpts(changed),
		Confinement: a.confined.Level(),
	}
	rec.Refused, rec.Notes = a.refused()
	if res.Verdict.Outcome == outcome.Edited {
		rec.Summary = a.summary(r.output.Text)
	}
	if res.Report != nil {
		rec.ReportSHA256 = digest.Hex(res.Report)
	}
	if rec.End == "" {
		rec.End = string(endCause(r))
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
	if r.err != nil && !r.cancelled {
		rec.Notes = append(rec.Notes, excerpt(r.err.Error()))
	}
	if res.CheckErr != nil {
		rec.Notes = append(rec.Notes, excerpt(res.CheckErr.Error()))
	}
	rec.Notes = append(rec.Notes, excerpts(r.output.Notes)...)
	if f := r.output.Failure; f != nil {
		// Some CLIs give no message, and some give it as a note too.
		if said := excerpt(f.Message); said != "" && !slices.Contains(rec.Notes, said) {
			rec.Notes = append(rec.Notes, said)
		}
		if !f.ResetsAt.IsZero() {
			rec.ResetsAt = f.ResetsAt.UTC().Format(time.RFC3339)
		}
	}
	rec.StderrExcerpt, _ = redactedTail(a.stderr, stderrExcerpt) // The file is ours and was just read.
	rec.ResponseSHA256, rec.ResponseBytes = r.outputSHA256, r.outputSize
	return rec
}

// execAdapter is the adapter that runs a command of the user, which may print more than its
// answer.
const execAdapter = "exec"

// ignoreOutput changes the facts so that a command of the user is judged by its files and its
// exit code. A critic's report needs no envelope then, and neither a report nor edits need a
// message: a model must describe its work, but a command may be silent or print a long log.
func ignoreOutput(f *outcome.Facts) {
	if !f.Edits && !f.Report {
		return
	}
	f.Text, f.Failure = outcome.TextPresent, outcome.NoClass // An output fails only if it is too long.
	if f.Envelope == outcome.EnvelopeAbsent {
		f.Envelope = outcome.EnvelopeOK
	}
}

// maxSummary bounds Record.Summary, in bytes.
const maxSummary = 8 << 10

// summary returns an agent's description of its work: its final message, or the last line of a
// command of the user.
func (a *attempt) summary(text string) string {
	text = strings.TrimSpace(redact.Text(text))
	if a.adapter.Name() == execAdapter {
		text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	return textutil.ClipBytes(text, maxSummary)
}

// hashFile returns the digest of a file's content in hex digits, and its size.
func hashFile(f *os.File) (sum string, size int64) {
	h := sha256.New()
	size, _ = io.Copy(h, io.NewSectionReader(f, 0, 1<<62))
	return digest.Bare(digest.OfHash(h)), size
}

// maxText bounds an agent's text in a record, in code points.
const maxText = 300

// excerpt shortens an agent's text for a record, which must be valid UTF-8; names of files need
// not be. It redacts before it cuts.
func excerpt(text string) string {
	return textutil.Clip(redact.Text(strings.ToValidUTF8(text, "\ufffd")), maxText)
}

func excerpts(texts []string) (short []string) {
	for _, text := range texts {
		short = append(short, excerpt(text))
	}
	return short
}
