package spawner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of an attempt that no setting changes.
const (
	// maxRead bounds the part of standard output that is read, in bytes. A fast writer exceeds
	// outcome.MaxOutput before it is ended.
	maxRead = 2 * outcome.MaxOutput
	// maxFinal bounds a final message in a file, in bytes.
	maxFinal = 8 << 20
	// grace is the time between SIGTERM and SIGKILL, and postResultGrace the time that an
	// agent may run after it reported its result.
	grace, postResultGrace = 5 * time.Second, 15 * time.Second
	// finalizeTimeout bounds judging and recording a run. It is longer than the limit of a
	// scan of the working tree, since a scan that is cut short would count as a change.
	finalizeTimeout = 4 * time.Minute
	// stderrExcerpt is the number of bytes at the end of standard error that are recorded, and
	// stderrRead the number that are searched for an error.
	stderrExcerpt, stderrRead = 4 << 10, 64 << 10
)

type attempt struct {
	*Spawner
	job     Job
	plan    *plan
	at      Attempt
	adapter *adapter.Adapter
	bin     string
	lease   *lease.Lease

	child          supervise.Identity // as reserved before the start
	dir            *runDir
	prompt         []byte
	stdin          *os.File
	stdout, stderr *os.File
	before         *snapshots
	began          time.Time // by the clock of the file system
	confined       *access.Process
}

// run runs an attempt, from its private directory to its receipt, and returns the result and
// the next step. An error ends the job; if there was a process, its result is recorded anyway.
// It is not an error if the process could not be started: another adapter may work.
func (a *attempt) run(ctx context.Context) (res Result, step outcome.Step, err error) {
	if err := a.reserve(); err != nil {
		return res, step, err
	}
	if a.dir, err = newRunDir(a.child.Folder); err != nil {
		return res, step, errFolder(err)
	}
	defer func() { a.warn(errFolder(a.dir.remove())) }()
	defer a.closeFiles()
	invocation, err := a.prepare(ctx)
	if err != nil {
		return res, step, err
	}
	process := a.runProcess(ctx, invocation)
	// A cancelled attempt is recorded too.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalizeTimeout)
	defer cancel()
	res = a.collect(ctx, late, process)
	step = a.plan.step(res, a.plan.deadline.Sub(a.Now()))
	res.Next = step.Action
	if !process.started() {
		res.StartErr = process.err
	} else {
		if res.Next.Continues() {
			res.Record.Next = string(res.Next)
		}
		if res.LogDigest, err = AppendRunLog(late, a.State, res.Record); err != nil {
			return res, step, err
		}
	}
	if a.job.End != nil {
		if err := a.job.End(late, res); err != nil {
			return res, step, err
		}
	}
	switch {
	case process.unconfined != nil: // Another adapter would not help.
		return res, step, process.unconfined
	case ctx.Err() != nil:
		return res, step, fmt.Errorf("run %s: %w", a.job.Agent.Name, context.Cause(ctx))
	case res.StartErr == nil && a.job.Deliver != nil:
		err = a.job.Deliver(res)
	}
	res.Stdout = nil
	return res, step, err
}

// prepare writes the files that the process needs, takes the snapshots before it, and returns
// its invocation.
func (a *attempt) prepare(ctx context.Context) (inv adapter.Invocation, err error) {
	if err := a.writeFiles(); err != nil {
		return inv, err
	}
	known := a.plan.tree
	a.plan.tree = nil
	if a.before, err = a.snapshots(ctx, known, false); err != nil {
		return inv, err
	}
	if a.plan.first == nil {
		a.plan.first = a.before
		a.plan.edited = a.job.Before != "" && a.job.Before != a.before.tree.Digest()
	}
	a.at.Tree = a.before.tree.Digest()
	if inv, err = a.invocation(); err != nil {
		return inv, err
	}
	if a.confined, err = access.New(a.Confine, a.site(), a.needs(inv)); err != nil {
		return inv, err
	}
	if a.job.Begin != nil {
		err = a.job.Begin(ctx, a.at)
	}
	return inv, err
}

// reserve records the private directory and the process of the attempt before they exist, so
// that they are cleaned up if we are killed.
func (a *attempt) reserve() error {
	path, err := newRunDirPath(a.Temp)
	if err != nil {
		return errFolder(err)
	}
	a.child = a.Supervisor.Reserve(path)
	return a.lease.Record(a.leaseRecord(a.child))
}

func (a *attempt) leaseRecord(child supervise.Identity) lease.Record {
	return lease.Record{Process: child, Run: a.at.Run, Task: a.job.Task, Began: a.Now().UTC().Format(time.RFC3339)}
}

func (a *attempt) writeFiles() error {
	a.at.Folder = a.dir.join(tempFolder)
	if a.job.Profile == profile.Report {
		a.at.Folder = a.dir.join(reportFolder) // The CLI gets permission to write here.
		a.at.ReportPath = a.dir.join(reportFolder, fmt.Sprintf("critic-%s-r%d.json", a.job.Task, a.job.Round))
	}
	rendered, err := a.job.Prompt(a.at)
	if err != nil {
		return err
	}
	a.prompt = []byte(definition.Compose(a.job.Agent, rendered))
	a.at.Prompt = digest.Of(a.prompt)
	return errFolder(a.openFiles())
}

func (a *attempt) openFiles() error {
	err := a.dir.write(promptFile, a.prompt)
	if err != nil {
		return err
	}
	if a.stdin, err = a.dir.root.Open(promptFile); err != nil {
		return err
	}
	if a.stdout, err = a.dir.create(stdoutFile); err != nil {
		return err
	}
	if a.stderr, err = a.dir.create(stderrFile); err != nil {
		return err
	}
	info, err := a.stderr.Stat()
	if err == nil {
		a.began = info.ModTime()
	}
	return err
}

func (a *attempt) closeFiles() {
	for _, f := range []*os.File{a.stdin, a.stdout, a.stderr} {
		_ = f.Close() // A nil file is an error.
	}
}

// snapshots has the state of everything that an agent may change.
type snapshots struct {
	tree *worktree.Snapshot
	// project has the files in the project's root that affect later rounds. It is nil if tree
	// has them.
	project *worktree.Snapshot
}

// snapshots takes the snapshots. known is that of the tree, or nil. With reread, it does not
// rely on the metadata of files.
func (a *attempt) snapshots(ctx context.Context, known *worktree.Snapshot, reread bool) (s *snapshots, err error) {
	s = &snapshots{tree: known}
	tree := worktree.Tree{Root: a.Tree, Supervisor: a.Supervisor, Environ: a.Environ, Cache: a.Cache}
	switch {
	case reread && a.Tree != a.Root: // The host commits only the draft.
		tree.Reread = worktree.RereadDraft
	case reread:
		tree.Reread = worktree.RereadAll
	}
	if known == nil {
		s.tree, err = tree.Snapshot(ctx, a.Scope)
	}
	if err != nil || a.Tree == a.Root {
		return s, err
	}
	tree.Root = a.Root
	s.project, err = tree.Deciding(ctx, a.Scope)
	return s, err
}

// invocation returns the adapter's invocation of its CLI, and writes the files that it needs.
func (a *attempt) invocation() (adapter.Invocation, error) {
	dollars := ""
	if n := a.job.MicroDollars; n > 0 {
		dollars = fmt.Sprintf("%d.%06d", n/1e6, n%1e6)
	}
	model := a.job.Model
	if a.at.Adapter != a.job.Adapters[0] {
		model = "" // Another CLI has other models.
	}
	inv, err := a.adapter.Invocation(adapter.Values{
		Model: model, WorkDir: a.Tree, StateDir: a.dir.join(stateFolder), TempDir: a.dir.join(tempFolder),
		OutFile: a.dir.join(finalFile), ReportPath: a.at.ReportPath, PromptFile: a.dir.join(promptFile),
		MaxDollars: dollars, Profile: a.job.Profile, Web: a.job.Web, Command: a.job.Command, Environ: a.Environ,
		Confined: access.Confines(a.Confine.Want),
	})
	if err != nil {
		return inv, err
	}
	for name, content := range inv.Files {
		if err := a.dir.write(filepath.Join(stateFolder, name), []byte(content)); err != nil {
			return inv, errFolder(err)
		}
	}
	return inv, nil
}

func (a *attempt) environment(inv adapter.Invocation) []string {
	env := childenv.Child(a.Environ, slices.Concat(inv.Pass, a.job.Env)...)
	env = append(env, childenv.Marks(a.Environ, a.at.Run)...)
	temp := a.dir.join(tempFolder)
	env = append(env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	if a.job.Task != "" {
		env = append(env, "SWITCHYARD_TASK="+a.job.Task, fmt.Sprintf("SWITCHYARD_ROUND=%d", a.job.Round))
	}
	if a.job.Role != "" {
		env = append(env, "SWITCHYARD_ROLE="+a.job.Role)
	}
	if a.at.ReportPath != "" {
		env = append(env, "SWITCHYARD_REPORT="+a.at.ReportPath)
	}
	return append(env, inv.Env...)
}

// processResult has the end of a process and its output.
type processResult struct {
	supervise.Result
	err        error
	cancelled  bool  // err is the caller's cancellation
	unconfined error // the reason why it could not be confined, and was not started
	output     adapter.Output
	start, end time.Time

	outputSHA256 string
	outputSize   int64
}

// started reports whether there was a process.
func (r processResult) started() bool { return errs.CodeOf(r.err) != errs.ProcessStart }

// runProcess runs the process to its end, and reads its output.
func (a *attempt) runProcess(ctx context.Context, inv adapter.Invocation) processResult {
	r := processResult{start: a.Now()}
	reader := a.adapter.NewReader()
	w := &outputWatcher{
		stdout: a.stdout, reader: reader, maxTokens: a.job.Tokens, now: a.Now,
		progress: func(p adapter.Progress) {
			a.observe(Progress{Phase: Running, Since: r.start, Limit: a.at.Timeout, Tokens: p.Tokens, Tools: p.Tools, Tool: excerpt(p.Tool), Note: excerpt(p.Note)})
		},
	}
	a.observe(Progress{Phase: Running, Since: r.start, Limit: a.at.Timeout})
	pid := 0
	spec := supervise.Spec{
		Argv: append([]string{a.bin}, inv.Argv...), Dir: a.Tree, Env: a.environment(inv),
		Output: a.stdout, Errors: a.stderr, OutputLimit: outcome.MaxOutput, Timeout: a.at.Timeout, Idle: a.job.Idle, Grace: grace,
		Reserved: a.child,
		Start: func(cmd *exec.Cmd) error {
			err := a.confined.Start(ctx, cmd)
			if code := errs.CodeOf(err); code == errs.ConfineFailed || code == errs.ConfineUnavailable {
				r.unconfined = err
			}
			return err
		},
		Signal: a.confined.Signal,
		Started: func(id supervise.Identity) error {
			pid = id.PID
			return a.lease.Record(a.leaseRecord(id))
		},
		Watch: w.check,
	}
	if inv.Stdin {
		spec.Input = a.stdin
	}
	r.Result, r.err = a.Supervisor.Run(ctx, spec)
	a.confined.Close()
	if r.err != nil { // Then there is no Result.
		r.PID, r.ExitCode, r.cancelled = pid, -1, ctx.Err() != nil
	}
	r.end = a.Now()
	if info, err := a.stdout.Stat(); err == nil && info.Size() > maxRead {
		_ = a.stdout.Truncate(maxRead) // It was ended because of this. Job.Deliver need not read everything.
	}
	// The agent may have printed its use while it ended. The rest of a large output takes too
	// long to read if a caller waits for the end.
	began := time.Now()
	w.drain(func() bool {
		return (r.End == supervise.OutputLimit || ctx.Err() != nil) && time.Since(began) > time.Second
	})
	// Redact before cutting: a part of a secret does not look like one.
	tail, err := redactedTail(a.stderr, stderrRead)
	if err == nil {
		err = w.err
	}
	if r.outputSHA256, r.outputSize = hashFile(a.stdout); err == nil && w.differs(r.outputSHA256, r.outputSize) {
		err = errors.New("it changed after it was read")
	}
	r.output = reader.Finish(adapter.Ended{At: r.end, ExitCode: r.ExitCode, Signal: r.Signal, Errors: []byte(tail), File: a.finalMessage()})
	if err != nil {
		r.output = adapter.Output{Notes: append(r.output.Notes, "its output cannot be read: "+err.Error())}
	}
	return r
}

// finalMessage returns the final message that the CLI wrote to a file, or nil.
func (a *attempt) finalMessage() []byte {
	text, _ := safefile.ReadFile(a.dir.root, finalFile, maxFinal)
	return text
}

func (a *attempt) observe(p Progress) {
	if a.job.Observe == nil {
		return
	}
	p.Agent, p.Adapter, p.Task, p.Run, p.Attempt = a.job.Agent.Name, a.at.Adapter, a.job.Task, a.at.Run, a.at.N
	a.job.Observe(p)
}

func redactedTail(f *os.File, limit int) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	return redact.Tail(f, info.Size(), limit)
}
