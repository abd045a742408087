package spawner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// collect gathers all that was seen of a run and judges it. The comparison of the tree,
// which may take long, ends with ctx, and the rest with late.
func (t *attempt) collect(ctx, late context.Context, r processResult) Result {
	res := Result{Attempt: t.at, Output: r.output, SeesTools: t.adapter.SeesTools(), Stdout: t.stdout, Stderr: excerptOf(t.stderr)}
	facts := outcome.Facts{
		Started: r.started(), Killed: killed(r), Exit: exitOf(r.Result), Text: textOf(r.output), Denials: len(r.output.Denials) > 0,
		Report: t.job.ExpectedReport != nil,
	}
	if r.output.Failure != nil {
		facts.Failure = outcome.Class(r.output.Failure.Class)
	}
	if facts.Report {
		t.report(&res, &facts)
	}
	var err error
	var changed []string
	switch res.Changes, err = t.changes(ctx); {
	case ctx.Err() != nil:
		facts.Killed = outcome.KilledCancelled // A process that is told to end compares nothing.
	case err != nil:
		// What cannot be compared may have changed.
		changed = []string{"the working tree cannot be read: " + err.Error()}
	}
	for _, c := range res.Changes {
		changed = append(changed, strings.TrimSpace(fmt.Sprintf("%s %q %s", c.Kind, c.Path, c.Detail)))
	}
	facts.Changed = len(changed) > 0
	res.Verdict = outcome.Judge(facts)
	if res.Verdict.Good() && t.job.Check != nil {
		if res.CheckErr = t.job.Check(late, res); res.CheckErr != nil {
			facts.File, facts.Text = outcome.FileInvalid, outcome.TextUnreadable
			if facts.Report {
				facts.Text = outcome.TextPresent // It is the report that is not as promised.
			}
			res.Verdict = outcome.Judge(facts)
		}
	}
	res.Record = t.record(r, res, changed)
	return res
}

// changes lists what differs in the working tree. A file whose content the attempt
// before changed also differs if it was written again with that content: then it was
// this agent.
func (t *attempt) changes(ctx context.Context) ([]worktree.Change, error) {
	after, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return append(worktree.Compare(t.before, after), worktree.Rewritten(t.before, after, t.suspects)...), nil
}

// report holds the final message and the report against what was asked for.
func (t *attempt) report(res *Result, facts *outcome.Facts) {
	expect := outcome.Expect{
		Critic: t.job.ExpectedReport.Critic, Task: t.job.Task, Round: t.job.Round, RunID: t.at.Run, ReportPath: t.at.ReportPath, Began: t.began,
		SameFile: sameFile,
	}
	var body *outcome.EnvelopeBody
	facts.Envelope, body = outcome.ReadEnvelope(res.Output.Text, expect)
	data, modified, file := t.read(filepath.Join(reportFolder, filepath.Base(t.at.ReportPath)))
	facts.File = file
	if file == outcome.FileOK {
		var summary outcome.Summary
		facts.File, summary = outcome.CheckReport(data, modified, expect, body)
		facts.Passed = summary.Passed
		res.Report = data
	}
}

// read reads a report, if it is a file that can be one.
func (t *attempt) read(name string) ([]byte, time.Time, outcome.File) {
	f, err := safefile.OpenFile(t.dir.root, name, os.O_RDONLY)
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
	if err != nil {
		return nil, time.Time{}, outcome.FileUnreadable
	}
	data, err := io.ReadAll(io.LimitReader(f, outcome.MaxReport+1))
	if err != nil {
		return nil, time.Time{}, outcome.FileUnreadable
	}
	return data, info.ModTime(), outcome.FileOK
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// killed says why a run did not end by itself, "" if it did.
func killed(r processResult) outcome.EndCause {
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
