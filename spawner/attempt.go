package spawner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of an attempt that nobody sets.
const (
	// maxOutput is how much an agent may write to standard output and standard
	// error together, in bytes.
	maxOutput = 64 << 20
	// maxRead is how much of standard output is read at all. A fast writer goes some
	// way beyond the limit, and a file can be made larger than any disk at once.
	maxRead = 2 * maxOutput
	// maxFinal is how large a final message in a file may be, in bytes.
	maxFinal = 8 << 20
	// grace is how long an agent may take to end when it is asked to, and linger
	// how long it may stay after its last word.
	grace, postResultGrace = 5 * time.Second, 15 * time.Second
	// finalizeTimeout is how long it may take to judge a run and to record that: longer than
	// a look at the tree may (see worktree.Take), which would else count as a change.
	finalizeTimeout = 4 * time.Minute
	// stderrExcerpt is how much of the end of standard error is kept, in bytes, and
	// stderrRead how much of it is searched for an error.
	stderrExcerpt, stderrRead = 4 << 10, 64 << 10
)

// attempt is an attempt under way.
type attempt struct {
	*Spawner
	job     Job
	at      Attempt
	adapter *adapter.Adapter
	bin     string
	slot    *lease.Lease

	child          supervise.Identity // as it was announced
	dir            *runDir
	prompt         []byte
	stdin          *os.File
	stdout, stderr *os.File
	before         *worktree.Snapshot
	suspects       []string  // files that changed during the attempt before
	began          time.Time // by the clock of the file system
}

// run runs an attempt from its private folder to its receipt. next says what
// follows a verdict. An error ends the job; where a process was there, its record
// is kept all the same. That there was none is no error: another adapter may do.
func (t *attempt) run(ctx context.Context, next func(Result) outcome.Action) (res Result, err error) {
	if err := t.reserve(); err != nil {
		return res, err
	}
	if t.dir, err = newRunDir(t.child.Folder); err != nil {
		return res, errFolder(err)
	}
	defer func() { t.warn(errFolder(t.dir.remove())) }()
	defer t.close()
	if err := t.write(); err != nil {
		return res, err
	}
	if t.before, err = t.snapshot(ctx); err != nil {
		return res, err
	}
	t.at.Tree = t.before.Digest()
	invocation, err := t.invocation()
	if err != nil {
		return res, err
	}
	if err := t.job.Begin(ctx, t.at); err != nil {
		return res, err
	}
	run := t.runProcess(ctx, invocation)
	// Whoever cancels shall find in the record what was cancelled.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalizeTimeout)
	defer cancel()
	res = t.collect(ctx, late, run)
	res.Next = next(res)
	if !run.started() {
		res.StartErr = run.err
	} else {
		if res.Next == outcome.Retry || res.Next == outcome.Fallback {
			res.Record.Next = string(res.Next)
		}
		if res.LogDigest, err = (runLog{t.State}).append(res.Record); err != nil {
			return res, err
		}
	}
	if err := t.job.End(late, res); err != nil {
		return res, err
	}
	switch {
	case ctx.Err() != nil:
		return res, fmt.Errorf("run %s: %w", t.job.Agent.Name, context.Cause(ctx))
	case res.StartErr == nil && t.job.Deliver != nil:
		err = t.job.Deliver(res)
	}
	res.Stdout = nil
	return res, err
}

// reserve writes down what the attempt will leave if we are killed, before any of
// it is there.
func (t *attempt) reserve() error {
	path, err := newRunDirPath(t.Temp)
	if err != nil {
		return errFolder(err)
	}
	t.child = t.Supervisor.Reserve(path)
	return t.slot.RecordIntent(t.running(t.child))
}

// running is the slot's record of the attempt.
func (t *attempt) running(child supervise.Identity) lease.Record {
	return lease.Record{Process: child, Run: t.at.Run, Task: t.job.Task, Began: t.Now().UTC().Format(time.RFC3339)}
}

// write fills the private folder.
func (t *attempt) write() (err error) {
	t.at.Folder = t.dir.join(tempFolder)
	if t.job.ExpectedReport != nil {
		t.at.Folder = t.dir.join(reportFolder) // Its CLI is told to let it in there.
		t.at.ReportPath = t.dir.join(reportFolder, fmt.Sprintf("critic-%s-r%d.json", t.job.Task, t.job.Round))
	}
	rendered, err := t.job.Prompt(t.at)
	if err != nil {
		return err
	}
	t.prompt = []byte(definition.Compose(t.job.Agent, rendered))
	t.at.Prompt = Digest(t.prompt)
	if err := t.dir.write(promptFile, t.prompt); err != nil {
		return errFolder(err)
	}
	if t.stdin, err = t.dir.root.Open(promptFile); err != nil {
		return errFolder(err)
	}
	if t.stdout, err = t.dir.create(stdoutFile); err != nil {
		return errFolder(err)
	}
	if t.stderr, err = t.dir.create(stderrFile); err != nil {
		return errFolder(err)
	}
	info, err := t.stderr.Stat()
	if err != nil {
		return errFolder(err)
	}
	t.began = info.ModTime()
	return nil
}

func (t *attempt) close() {
	for _, f := range []*os.File{t.stdin, t.stdout, t.stderr} {
		if f != nil {
			_ = f.Close() // They are read, not kept.
		}
	}
}

func (t *attempt) snapshot(ctx context.Context) (*worktree.Snapshot, error) {
	return worktree.Take(ctx, t.Supervisor, t.Root, t.Scope)
}

// invocation asks the adapter how to call its CLI, and writes the files that it
// wants in its state folder.
func (t *attempt) invocation() (adapter.Invocation, error) {
	dollars := ""
	if n := t.job.Allowed.MicroDollars; n > 0 {
		dollars = fmt.Sprintf("%d.%06d", n/1e6, n%1e6)
	}
	model := t.job.Model
	if t.at.Adapter != t.job.Adapters[0] {
		model = "" // Another CLI knows other models.
	}
	inv, err := t.adapter.Invocation(adapter.Values{
		Model: model, WorkDir: t.Root, StateDir: t.dir.join(stateFolder), TempDir: t.dir.join(tempFolder),
		OutFile: t.dir.join(finalFile), ReportPath: t.at.ReportPath, PromptFile: t.dir.join(promptFile),
		MaxDollars: dollars, Write: t.job.ExpectedReport != nil, Web: t.job.Web, Command: t.job.Command, Environ: t.Environ,
	})
	if err != nil {
		return inv, err
	}
	for name, content := range inv.Files {
		if err := t.dir.write(filepath.Join(stateFolder, name), []byte(content)); err != nil {
			return inv, errFolder(err)
		}
	}
	return inv, nil
}

// environment is the agent's whole environment.
func (t *attempt) environment(inv adapter.Invocation) []string {
	env := childenv.Child(t.Environ, childenv.Policy{Credentials: inv.Pass, Extra: t.job.Env})
	env = append(env, childenv.Marks(t.Environ, t.at.Run)...)
	temp := t.dir.join(tempFolder)
	env = append(env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	if t.job.Task != "" {
		env = append(env, "SWITCHYARD_TASK="+t.job.Task, fmt.Sprintf("SWITCHYARD_ROUND=%d", t.job.Round))
	}
	return append(env, inv.Env...)
}

// processResult is what became of a process.
type processResult struct {
	supervise.Result
	err error
	// cancelled says that err is there because the caller wanted it so.
	cancelled bool

	output adapter.Output
	start  time.Time
	end    time.Time
}

// started reports whether there was a process.
func (r processResult) started() bool { return errs.CodeOf(r.err) != errs.ProcessStart }

// runProcess runs the process to its end, and reads what it wrote.
func (t *attempt) runProcess(ctx context.Context, inv adapter.Invocation) processResult {
	r := processResult{start: t.Now()}
	reader := t.adapter.NewReader()
	f := &outputWatcher{
		stdout: t.stdout, reader: reader, limit: t.job.Allowed.Tokens, postResultGrace: postResultGrace, now: t.Now,
		progress: func(p adapter.Progress) {
			t.observe(Progress{Phase: Running, Since: r.start, Limit: t.at.Timeout, Tokens: p.Tokens, Tools: p.Tools})
		},
	}
	t.observe(Progress{Phase: Running, Since: r.start, Limit: t.at.Timeout})
	pid := 0
	spec := supervise.Spec{
		Argv: append([]string{t.bin}, inv.Argv...), Dir: t.Root, Env: t.environment(inv),
		Output: t.stdout, Errors: t.stderr, OutputLimit: maxOutput, Timeout: t.at.Timeout, Idle: t.job.Idle, Grace: grace,
		Reserved: t.child,
		Started: func(id supervise.Identity) error {
			pid = id.PID
			return t.slot.RecordProcess(t.running(id))
		},
		Watch: f.check,
	}
	if inv.Stdin {
		spec.Input = t.stdin
	}
	r.Result, r.err = t.Supervisor.Run(ctx, spec)
	if r.err != nil {
		// What has no result of its own has not ended well, and had a number.
		r.PID, r.ExitCode, r.cancelled = pid, -1, ctx.Err() != nil
	}
	r.end = t.Now()
	if info, err := t.stdout.Stat(); err == nil && info.Size() > maxRead {
		_ = t.stdout.Truncate(maxRead) // It was ended for that; nobody shall read the rest.
	}
	f.drain()
	// Secrets go before anything is cut: half of one does not look like one.
	tail, err := tailOf(t.stderr, stderrRead)
	if err == nil {
		err = f.err
	}
	r.output = reader.Finish(adapter.Ended{ExitCode: r.ExitCode, Signal: r.Signal, Errors: []byte(tail), File: t.final()})
	if err != nil {
		// What cannot be read says nothing.
		r.output = adapter.Output{Notes: append(r.output.Notes, "its output cannot be read: "+err.Error())}
	}
	return r
}

// final is the final message in a file, or nil.
func (t *attempt) final() []byte {
	info, err := t.dir.root.Lstat(finalFile)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFinal {
		return nil
	}
	text, err := t.dir.root.ReadFile(finalFile)
	if err != nil {
		return nil
	}
	return text
}

func (t *attempt) observe(p Progress) {
	if t.job.Observe == nil {
		return
	}
	p.Agent, p.Adapter, p.Run, p.Attempt = t.job.Agent.Name, t.at.Adapter, t.at.Run, t.at.N
	t.job.Observe(p)
}

// tailOf is the end of a file without secrets.
func tailOf(f *os.File, limit int) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	return redact.Tail(f, info.Size(), limit)
}

// hexOf is the digest of a file's content, in hex digits.
func hexOf(f *os.File) (string, int64, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, 1<<62))
	return hex.EncodeToString(sum.Sum(nil)), n, err
}

// excerptOf is the end of a file without secrets.
func excerptOf(f *os.File) string {
	text, err := tailOf(f, stderrExcerpt)
	if err != nil {
		return ""
	}
	return text
}
