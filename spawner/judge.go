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

	"github.com/switchyard-dev/switchyard/host/folder"
	"github.com/switchyard-dev/switchyard/spawner/adapter"
	"github.com/switchyard-dev/switchyard/spawner/process"
	"github.com/switchyard-dev/switchyard/spawner/tree"
	"github.com/switchyard-dev/switchyard/spawner/verdict"
)

// judged gathers all that was seen of a run and judges it. The comparison of the tree,
// which may take long, ends with ctx, and the rest with late.
func (t *try) judged(ctx, late context.Context, r ran) Result {
	res := Result{Attempt: t.at, Output: r.output, SeesTools: t.adapter.SeesTools(), Stdout: t.stdout, Stderr: excerptOf(t.stderr)}
	facts := verdict.Facts{
		Started: r.started(), Killed: killed(r), Exit: exitOf(r.Result), Text: textOf(r.output), Denials: len(r.output.Denials) > 0,
		Report: t.job.Owes != nil,
	}
	if r.output.Failure != nil {
		facts.Failure = verdict.Class(r.output.Failure.Class)
	}
	if facts.Report {
		t.report(&res, &facts)
	}
	var err error
	var changed []string
	switch res.Changes, err = t.changes(ctx); {
	case ctx.Err() != nil:
		facts.Killed = verdict.KilledCancelled // A process that is told to end compares nothing.
	case err != nil:
		// What cannot be compared may have changed.
		changed = []string{"the working tree cannot be read: " + err.Error()}
	}
	for _, c := range res.Changes {
		changed = append(changed, strings.TrimSpace(fmt.Sprintf("%s %q %s", c.Kind, c.Path, c.Detail)))
	}
	facts.Changed = len(changed) > 0
	res.Verdict = verdict.Judge(facts)
	if res.Verdict.Good() && t.job.Check != nil {
		if res.Objection = t.job.Check(late, res); res.Objection != nil {
			facts.File, facts.Text = verdict.FileInvalid, verdict.TextUnreadable
			if facts.Report {
				facts.Text = verdict.TextPresent // It is the report that is not as promised.
			}
			res.Verdict = verdict.Judge(facts)
		}
	}
	res.Record = t.record(r, res, changed)
	return res
}

// changes lists what differs in the working tree. A file whose content the attempt
// before changed also differs if it was written again with that content: then it was
// this agent.
func (t *try) changes(ctx context.Context) ([]tree.Change, error) {
	after, err := t.look(ctx)
	if err != nil {
		return nil, err
	}
	return append(tree.Compare(t.before, after), tree.Rewritten(t.before, after, t.suspects)...), nil
}

// report holds the final message and the report against what was asked for.
func (t *try) report(res *Result, facts *verdict.Facts) {
	expect := verdict.Expect{
		Critic: t.job.Owes.Critic, Task: t.job.Task, Round: t.job.Round, RunID: t.at.Run, ReportPath: t.at.ReportPath, Began: t.began,
		SameFile: sameFile,
	}
	var body *verdict.EnvelopeBody
	facts.Envelope, body = verdict.ReadEnvelope(res.Output.Text, expect)
	data, modified, file := t.read(filepath.Join(reportFolder, filepath.Base(t.at.ReportPath)))
	facts.File = file
	if file == verdict.FileOK {
		var summary verdict.Summary
		facts.File, summary = verdict.CheckReport(data, modified, expect, body)
		facts.Passed = summary.Passed
		res.Report = data
	}
}

// read reads a report, if it is a file that can be one.
func (t *try) read(name string) ([]byte, time.Time, verdict.File) {
	f, err := folder.OpenFile(t.private.root, name, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, time.Time{}, verdict.FileAbsent
	case errors.Is(err, folder.ErrNoFile), errors.Is(err, folder.ErrReplaced):
		return nil, time.Time{}, verdict.FileNotRegular
	case err != nil:
		return nil, time.Time{}, verdict.FileUnreadable
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, verdict.FileUnreadable
	}
	data, err := io.ReadAll(io.LimitReader(f, verdict.MaxReport+1))
	if err != nil {
		return nil, time.Time{}, verdict.FileUnreadable
	}
	return data, info.ModTime(), verdict.FileOK
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
func killed(r ran) verdict.Killed {
	switch {
	case r.cancelled:
		return verdict.KilledCancelled
	case r.err != nil:
		return verdict.KilledLost
	case r.End == process.Exited:
		return ""
	default:
		return verdict.Killed(r.End)
	}
}

func exitOf(r process.Result) verdict.Exit {
	switch {
	case r.Signal != "":
		return verdict.ExitSignal
	case r.ExitCode != 0:
		return verdict.ExitNonzero
	default:
		return verdict.ExitZero
	}
}

func textOf(out adapter.Output) verdict.Text {
	switch {
	case !out.Valid:
		return verdict.TextUnreadable
	case !out.HasText:
		return verdict.TextAbsent
	case out.Text == "":
		return verdict.TextEmpty
	default:
		return verdict.TextPresent
	}
}
