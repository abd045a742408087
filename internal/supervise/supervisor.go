package supervise

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Supervisor runs children and ends them with all their descendants. It is safe for
// concurrent use. All Supervisors of a program share the knowledge about their children.
type Supervisor struct {
	// killTimeout is the time for which SIGKILL is repeated before a survivor counts as lost.
	killTimeout time.Duration
}

const defaultKillTimeout = 10 * time.Second

// New returns a Supervisor. On Linux it permanently makes this program the subreaper of its
// descendants.
//
// # Errors
//
// process-start if the system cannot supervise children, for example without /proc on
// Linux.
func New() (*Supervisor, error) {
	if err := adopt(); err != nil {
		return nil, errs.New(errs.ProcessStart, "child processes cannot be supervised: %w", err)
	}
	return &Supervisor{killTimeout: defaultKillTimeout}, nil
}

// Reserve returns an Identity for a child that is not started yet. The caller stores it and
// then passes it to Run. folder is the child's private directory, or ""; it need not exist
// yet. See Identity.Folder.
func (k *Supervisor) Reserve(folder string) Identity { return reserve(folder) }

// Run runs a child to its end and cleans up after it. It returns at most some seconds after
// Timeout and Grace, plus the time that Started and Watch take. Concurrent calls need separate
// files.
//
// # Errors
//
// process-start and process-lost, and the wrapped error of Started. If ctx is done, the
// child is ended as on a timeout, and the error wraps ctx's cause. The Result is valid
// only without an error.
func (k *Supervisor) Run(ctx context.Context, s Spec) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, s.errStopped(context.Cause(ctx))
	}
	// Linux sends Pdeathsig when the thread that started the child exits.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := start(s)
	if err != nil {
		return Result{}, errs.New(errs.ProcessStart, "%s cannot be started: %w", s.Argv[0], err).With("argv0", s.Argv[0])
	}
	if s.Started != nil {
		if err := s.Started(c.identity(s)); err != nil {
			_, _, lost := c.finish(s, k.killTimeout)
			return Result{}, errors.Join(s.errStopped(err), s.errLost(lost))
		}
	}
	end, watching := c.watch(ctx, s)
	state, size, err := c.finish(s, k.killTimeout)
	switch err = errors.Join(watching, err); {
	case err != nil:
		return Result{}, s.errLost(err)
	case end == "":
		return Result{}, s.errStopped(context.Cause(ctx))
	}
	// Output after the last poll counts too, so that the result does not depend on timing.
	if end == Exited && size.sum() > s.OutputLimit {
		end = OutputLimit
	}
	code, signal := state.ExitCode(), signalOf(state)
	if s.Signal != nil && signal == 0 {
		if signal = s.Signal(); signal != 0 {
			code = -1
		}
	}
	return Result{
		PID:         c.cmd.Process.Pid,
		ExitCode:    code,
		Signal:      signalName(signal),
		End:         end,
		Duration:    c.ended.Sub(c.began),
		OutputBytes: size.output,
		ErrorBytes:  size.errors,
	}, nil
}

// errStopped returns the error for a child that was ended or not started because of err.
func (s Spec) errStopped(err error) error { return fmt.Errorf("run %s: %w", s.Argv[0], err) }

// errLost returns the error for a child that is lost because of err, or nil without err.
func (s Spec) errLost(err error) error {
	if err == nil {
		return nil
	}
	return errs.New(errs.ProcessLost, "%s was started and is lost: %w", s.Argv[0], err).With("argv0", s.Argv[0])
}

// Sweep ends a child whose supervisor was killed, with its descendants, and returns the number
// of processes that it signalled. The child may be only reserved. Sweep must not be called for
// a child of a running Run, here or in another program. It returns at most some seconds after
// grace. On systems other than Linux it does nothing, since an Identity proves too little
// there.
//
// # Errors
//
// process-lost if a process survives, if the Identity is incomplete, or if this program
// runs below that child. If ctx is done, an error that wraps its cause; Sweep may then be
// called again.
func (k *Supervisor) Sweep(ctx context.Context, id Identity, grace time.Duration) (swept int, err error) {
	return k.sweep(ctx, id, grace)
}
