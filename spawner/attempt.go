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
	grace, linger = 5 * time.Second, 15 * time.Second
	// settling is how long it may take to judge a run and to record that: longer than
	// a look at the tree may (see worktree.Take), which would else count as a change.
	settling = 4 * time.Minute
	// stderrKept is how much of the end of standard error is kept, in bytes, and
	// stderrRead how much of it is searched for an error.
	stderrKept, stderrRead = 4 << 10, 64 << 10
)

// try is an attempt under way.
type try struct {
	*Spawner
	job     Job
	at      Attempt
	adapter *adapter.Adapter
	bin     string
	slot    *lease.Slot

	child          supervise.Identity // as it was announced
	private        *private
	prompt         []byte
	stdin          *os.File
	stdout, stderr *os.File
	before         *worktree.Snapshot
	suspects       []string  // files that changed during the attempt before
	began          time.Time // by the clock of the file system
}

// attempt runs an attempt from its private folder to its receipt. next says what
// follows a verdict. An error ends the job; where a process was there, its record
// is kept all the same. That there was none is no error: another adapter may do.
func (t *try) attempt(ctx context.Context, next func(Result) outcome.Action) (res Result, err error) {
	if err := t.announce(); err != nil {
		return res, err
	}
	if t.private, err = newPrivate(t.child.Folder); err != nil {
		return res, broken(err)
	}
	defer func() { t.beside(broken(t.private.remove())) }()
	defer t.close()
	if err := t.write(); err != nil {
		return res, err
	}
	if t.before, err = t.look(ctx); err != nil {
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
	run := t.run(ctx, invocation)
	// Whoever cancels shall find in the record what was cancelled.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer cancel()
	res = t.judged(ctx, late, run)
	res.Next = next(res)
	if !run.started() {
		res.Unstarted = run.err
	} else {
		if res.Next == outcome.Retry || res.Next == outcome.Fallback {
			res.Record.Next = string(res.Next)
		}
		if res.Trail, err = (trail{t.State}).append(res.Record); err != nil {
			return res, err
		}
	}
	if err := t.job.End(late, res); err != nil {
		return res, err
	}
	switch {
	case ctx.Err() != nil:
		return res, fmt.Errorf("run %s: %w", t.job.Agent.Name, context.Cause(ctx))
	case res.Unstarted == nil && t.job.Deliver != nil:
		err = t.job.Deliver(res)
	}
	res.Stdout = nil
	return res, err
}

// announce writes down what the attempt will leave if we are killed, before any of
// it is there.
func (t *try) announce() error {
	path, err := newPath(t.Temp)
	if err != nil {
		return broken(err)
	}
	t.child = t.Keeper.Announce(path)
	return t.slot.Announce(t.running(t.child))
}

// running is the slot's record of the attempt.
func (t *try) running(child supervise.Identity) lease.Record {
	return lease.Record{Process: child, Run: t.at.Run, Task: t.job.Task, Began: t.Now().UTC().Format(time.RFC3339)}
}

// write fills the private folder.
func (t *try) write() (err error) {
	t.at.Folder = t.private.join(tempFolder)
	if t.job.Owes != nil {
		t.at.Folder = t.private.join(reportFolder) // Its CLI is told to let it in there.
		t.at.ReportPath = t.private.join(reportFolder, fmt.Sprintf("critic-%s-r%d.json", t.job.Task, t.job.Round))
	}
	rendered, err := t.job.Prompt(t.at)
	if err != nil {
		return err
	}
	t.prompt = []byte(definition.Compose(t.job.Agent, rendered))
	t.at.Prompt = Digest(t.prompt)
	if err := t.private.write(promptFile, t.prompt); err != nil {
		return broken(err)
	}
	if t.stdin, err = t.private.root.Open(promptFile); err != nil {
		return broken(err)
	}
	if t.stdout, err = t.private.create(stdoutFile); err != nil {
		return broken(err)
	}
	if t.stderr, err = t.private.create(stderrFile); err != nil {
		return broken(err)
	}
	info, err := t.stderr.Stat()
	if err != nil {
		return broken(err)
	}
	t.began = info.ModTime()
	return nil
}

func (t *try) close() {
	for _, f := range []*os.File{t.stdin, t.stdout, t.stderr} {
		if f != nil {
			_ = f.Close() // They are read, not kept.
		}
	}
}

func (t *try) look(ctx context.Context) (*worktree.Snapshot, error) {
	return worktree.Take(ctx, t.Keeper, t.Root, t.Scope)
}

// invocation asks the adapter how to call its CLI, and writes the files that it
// wants in its state folder.
func (t *try) invocation() (adapter.Invocation, error) {
	dollars := ""
	if n := t.job.Allowed.MicroDollars; n > 0 {
		dollars = fmt.Sprintf("%d.%06d", n/1e6, n%1e6)
	}
	model := t.job.Model
	if t.at.Adapter != t.job.Adapters[0] {
		model = "" // Another CLI knows other models.
	}
	inv, err := t.adapter.Invocation(adapter.Values{
		Model: model, WorkDir: t.Root, StateDir: t.private.join(stateFolder), TempDir: t.private.join(tempFolder),
		OutFile: t.private.join(finalFile), ReportPath: t.at.ReportPath, PromptFile: t.private.join(promptFile),
		MaxDollars: dollars, Write: t.job.Owes != nil, Web: t.job.Web, Command: t.job.Command, Environ: t.Environ,
	})
	if err != nil {
		return inv, err
	}
	for name, content := range inv.Files {
		if err := t.private.write(filepath.Join(stateFolder, name), []byte(content)); err != nil {
			return inv, broken(err)
		}
	}
	return inv, nil
}

// environment is the agent's whole environment.
func (t *try) environment(inv adapter.Invocation) []string {
	env := childenv.Child(t.Environ, childenv.Policy{Credentials: inv.Pass, Extra: t.job.Env})
	env = append(env, childenv.Marks(t.Environ, t.at.Run)...)
	temp := t.private.join(tempFolder)
	env = append(env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	if t.job.Task != "" {
		env = append(env, "SWITCHYARD_TASK="+t.job.Task, fmt.Sprintf("SWITCHYARD_ROUND=%d", t.job.Round))
	}
	return append(env, inv.Env...)
}

// ran is what became of a process.
type ran struct {
	supervise.Result
	err error
	// cancelled says that err is there because the caller wanted it so.
	cancelled bool

	output adapter.Output
	start  time.Time
	end    time.Time
}

// started reports whether there was a process.
func (r ran) started() bool { return errs.CodeOf(r.err) != errs.ProcessStart }

// run runs the process to its end, and reads what it wrote.
func (t *try) run(ctx context.Context, inv adapter.Invocation) ran {
	r := ran{start: t.Now()}
	reader := t.adapter.NewReader()
	f := &feed{
		stdout: t.stdout, reader: reader, limit: t.job.Allowed.Tokens, linger: linger, now: t.Now,
		progress: func(p adapter.Progress) {
			t.observe(Progress{Phase: Running, Since: r.start, Limit: t.at.Timeout, Tokens: p.Tokens, Tools: p.Tools})
		},
	}
	t.observe(Progress{Phase: Running, Since: r.start, Limit: t.at.Timeout})
	pid := 0
	spec := supervise.Spec{
		Argv: append([]string{t.bin}, inv.Argv...), Dir: t.Root, Env: t.environment(inv),
		Output: t.stdout, Errors: t.stderr, OutputLimit: maxOutput, Timeout: t.at.Timeout, Idle: t.job.Idle, Grace: grace,
		Announced: t.child,
		Started: func(id supervise.Identity) error {
			pid = id.PID
			return t.slot.Record(t.running(id))
		},
		Watch: f.look,
	}
	if inv.Stdin {
		spec.Input = t.stdin
	}
	r.Result, r.err = t.Keeper.Run(ctx, spec)
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
func (t *try) final() []byte {
	info, err := t.private.root.Lstat(finalFile)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFinal {
		return nil
	}
	text, err := t.private.root.ReadFile(finalFile)
	if err != nil {
		return nil
	}
	return text
}

func (t *try) observe(p Progress) {
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
	text, err := tailOf(f, stderrKept)
	if err != nil {
		return ""
	}
	return text
}
