package supervise

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Supervisor runs children and looks after them. Its methods may be called
// concurrently. The Keepers of one program know of each other's children.
type Supervisor struct {
	// killTimeout is how long a hard kill is repeated before what outlives it counts
	// as lost.
	killTimeout time.Duration
}

// defaultKillTimeout is the patience of a Keeper.
const defaultKillTimeout = 10 * time.Second

// New returns a Keeper. On Linux it makes this program the one that all its
// descendants come to when they lose their parent, for as long as it lives. It is
// cheap, and nothing has to be closed.
//
// # Errors
//
// process-start where the system does not let us look after children, as without a
// /proc on Linux.
func New() (*Supervisor, error) {
	if err := adopt(); err != nil {
		return nil, errs.New(errs.ProcessStart, "child processes cannot be looked after: %w", err)
	}
	return &Supervisor{killTimeout: defaultKillTimeout}, nil
}

// Reserve returns what will tell a child from all others once it is started, to be
// written down before that and to be handed to Run. folder is one that is the
// child's alone, "" for none; it need not be there yet. Identity says what its path
// must be.
func (k *Supervisor) Reserve(folder string) Identity { return reserve(folder) }

// Run runs a child to its end and cleans up after it. It returns at the latest
// after Timeout, Grace and some seconds, and the time that Started and Watch take.
// Concurrent calls need files of their own.
//
// # Errors
//
// process-start and process-lost. What Started returned, wrapped. When ctx is done, the
// child is ended as on a timeout, and the error wraps ctx's cause. Only without an
// error the Result says anything.
func (k *Supervisor) Run(ctx context.Context, s Spec) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, s.errStopped(context.Cause(ctx))
	}
	// Linux signals a child when the thread that started it is gone.
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
	// What it wrote after the last look counts as well, so that the verdict does
	// not depend on when we looked.
	if end == Exited && size.sum() > s.OutputLimit {
		end = OutputLimit
	}
	return Result{
		PID:         c.cmd.Process.Pid,
		ExitCode:    state.ExitCode(),
		Signal:      signalName(state),
		End:         end,
		Duration:    c.ended.Sub(c.began),
		OutputBytes: size.output,
		ErrorBytes:  size.errors,
	}, nil
}

// errStopped is the error of a child that was ended, or not even started, because of
// err.
func (s Spec) errStopped(err error) error { return fmt.Errorf("run %s: %w", s.Argv[0], err) }

// errLost is the error of a child that err kept us from accounting for, if any.
func (s Spec) errLost(err error) error {
	if err == nil {
		return nil
	}
	return errs.New(errs.ProcessLost, "%s was started and is lost: %w", s.Argv[0], err).With("argv0", s.Argv[0])
}

// Sweep ends what is left of a child whose own keeper was killed before it could,
// and of what descends from it, and returns how many processes that was. The child
// may also be one that was announced and perhaps never started. Sweep must not be
// called for one that still is in a Run, here or in another program. It returns at
// the latest after grace and some seconds. On systems other than Linux, where an
// Identity proves too little, it ends nobody.
//
// # Errors
//
// process-lost where somebody is left, where the Identity is not complete, or where this
// program itself runs below that child. When ctx is done, an error that wraps its
// cause; Sweep may then be called again.
func (k *Supervisor) Sweep(ctx context.Context, id Identity, grace time.Duration) (swept int, err error) {
	return k.sweep(ctx, id, grace)
}
