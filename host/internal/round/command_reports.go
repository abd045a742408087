package round

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxReportErrors is how much of a failed command's stderr an error carries, in bytes. The
// message quotes its last maxReportLines lines, because the last line of npm is only the path
// of its log, and at most maxReportWords characters.
const maxReportErrors, maxReportLines, maxReportWords = 4 << 10, 3, 300

// maxShown is how much of a running command is shown, in code points: a terminal of 80 columns
// has room for its time too.
const maxShown = 40

// checkMayReport rejects report commands that are nested or not trusted.
func checkMayReport(tx *tasktx.Tx, config project.Config) error {
	switch {
	case len(config.Reports.Commands) == 0:
		return nil
	case verification.IsNested(tx):
		return errs.New(errs.VerifyNested, "a command of %s cannot run the commands for reports of task %s", tx.Project.Root, tx.ID).With("task", tx.ID)
	}
	return config.Reports.CheckTrusted()
}

// commandReports runs the project's report commands concurrently and returns their
// reports. If one fails, all fail: a missing report is not a clean report. The commands must
// leave the tree as it was when it was verified.
func (rr *roundRunner) commandReports(ctx context.Context) ([]pluginset.Report, error) {
	commands, err := rr.dueReports(ctx)
	if err != nil || len(commands) == 0 {
		return nil, err
	}
	now, err := rr.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	before := cmp.Or(rr.judged, now.Digest())
	rr.shot = nil
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make([]*reportRun, len(commands))
	failures := make([]error, len(commands))
	var all sync.WaitGroup
	for i, command := range commands {
		all.Go(func() {
			if ran[i], failures[i] = rr.runReport(within, command, i+1); failures[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	defer func() {
		for _, r := range ran {
			_ = r.output.Close() // It was only read, or is nil.
			_ = r.errors.Close()
		}
	}()
	if err := firstCause(failures); err != nil {
		return nil, err
	}
	if now, err = rr.snapshot(ctx); err != nil {
		return nil, err
	}
	if rr.judged = now.Digest(); rr.judged != before {
		return nil, errs.New(errs.ReportCommandFailed, "the working tree changed while the commands for reports ran, so that their reports may be about different files")
	}
	resolver := rr.tx.Project.Plugins().Resolver(rr.config).In(rr.tx.Tree())
	var found []pluginset.Report
	for _, r := range ran {
		ev, err := rr.readReport(ctx, r, resolver)
		if err != nil {
			return nil, err
		}
		found = append(found, ev)
	}
	return found, nil
}

// dueReports returns the commands whose paths the draft changes.
func (rr *roundRunner) dueReports(ctx context.Context) ([]project.ReportCommand, error) {
	var due []project.ReportCommand
	for _, command := range rr.config.Reports.Commands {
		if len(command.Paths) > 0 {
			base, err := rr.tx.Base(ctx)
			if err != nil {
				return nil, err
			}
			tree, err := verification.WorkingTree(rr.tx)
			if err != nil {
				return nil, err
			}
			differs, err := tree.Differs(ctx, base, command.Paths)
			if err != nil && errs.CodeOf(err) != errs.TreeNoGit {
				return nil, err
			}
			if err == nil && !differs {
				continue // Without git, every command runs.
			}
		}
		due = append(due, command)
	}
	return due, nil
}

// reportRun is a report command that has exited.
type reportRun struct {
	command        project.ReportCommand
	path           string // of its output, relative to the project's root
	output, errors *os.File
	result         supervise.Result
}

func (rr *roundRunner) runReport(ctx context.Context, command project.ReportCommand, n int) (*reportRun, error) {
	name := fmt.Sprintf("%s-r%d-%d", rr.tx.ID, rr.round.Number, n)
	r := &reportRun{command: command, path: project.StateDir + "/" + spawns.ReportsFolder + "/" + name + ".out"}
	dir, err := rr.tx.Project.StateFolder(spawns.ReportsFolder)
	if err != nil {
		return r, err
	}
	defer dir.Close()
	if r.output, err = newFile(dir, name+".out"); err == nil {
		r.errors, err = newFile(dir, name+".err")
	}
	if err != nil {
		return r, core.ErrStateWrite(r.path, err)
	}
	run, held, err := verification.Prepare(ctx, rr.tx, command.Run, "report")
	if err != nil {
		return r, err
	}
	defer rr.tx.Project.Release(held)
	defer verification.Show(rr.tx, "report "+textutil.Clip(command.Run, maxShown), command.Timeout)()
	run.Timeout, run.OutputLimit = command.Timeout, 2*document.Limits{Bytes: rr.config.Limits.Report}.WithDefaults().Bytes
	if r.result, err = run.RunOnce(ctx, r.output, r.errors); err != nil {
		return r, err
	}
	switch {
	case r.result.End == supervise.TimedOut:
		return r, r.failure("it took more than %s", command.Timeout)
	case r.result.End == supervise.OutputLimit:
		return r, r.failure("it wrote more than %d bytes", run.OutputLimit)
	case r.result.Signal != "":
		return r, r.failure("it was ended by %s", r.result.Signal)
	case r.result.ExitCode != 0 && !slices.Contains(command.ExitCodes, r.result.ExitCode):
		return r, r.failure("exit code %d", r.result.ExitCode)
	}
	return r, nil
}

// newFile creates a file, and removes an old one of that name first.
func newFile(dir *os.Root, name string) (*os.File, error) {
	if err := dir.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, safefile.Reason(err)
	}
	return dir.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}

func (rr *roundRunner) readReport(ctx context.Context, r *reportRun, resolver *pluginset.Resolver) (pluginset.Report, error) {
	ref := api.ReportRef{Plugin: cmp.Or(r.command.Plugin, api.Auto), Path: api.Stdin}
	size, err := r.output.Seek(0, io.SeekEnd)
	if err != nil {
		return pluginset.Report{}, core.ErrStateWrite(r.path, err)
	}
	ev, err := resolver.Normalize(ctx, ref, io.NewSectionReader(r.output, 0, size))
	if err == nil {
		ev.Path, ev.Command = r.path, r.command.Run
		_, err = pluginset.CheckSubject([]pluginset.Report{ev}, rr.tx.ID, rr.round.Number)
	}
	switch {
	case ctx.Err() != nil:
		return pluginset.Report{}, context.Cause(ctx)
	case err != nil:
		return pluginset.Report{}, r.failure("its output is not a report that can be used: %w", err).With("cause", string(errs.CodeOf(err)))
	case r.result.ExitCode != 0 && len(ev.Result.Findings) == 0:
		return pluginset.Report{}, r.failure("exit code %d means that it found something, and its report has no findings", r.result.ExitCode)
	}
	return ev, nil
}

// failure returns the error of the command, with the end of its stderr.
func (r *reportRun) failure(format string, args ...any) *errs.Error {
	said := ""
	if info, err := r.errors.Stat(); err == nil {
		said, _ = redact.Tail(r.errors, info.Size(), maxReportErrors)
	}
	said = strings.TrimSpace(said)
	if said != "" {
		lines := strings.Split(said, "\n")
		last := strings.Join(lines[max(0, len(lines)-maxReportLines):], "; ")
		format, args = format+": %s", append(args, textutil.Clip(last, maxReportWords))
	}
	f := errs.New(errs.ReportCommandFailed, "failed to run %q: "+format, append([]any{r.command.Run}, args...)...).
		With("command", r.command.Run).With("stderr", said).With("path", r.path)
	if r.result.End == supervise.Exited && r.result.Signal == "" {
		f = f.With("exit_code", r.result.ExitCode)
	}
	return f
}
