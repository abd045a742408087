package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
)

const (
	// killTime is how long the hard kill is repeated before the child counts as
	// lost.
	killTime = 5 * time.Second
	// sizeEvery is how often the output's size is looked at.
	sizeEvery = 25 * time.Millisecond
	// While descendants are ending, they are looked for in steps that double
	// between these two.
	firstLook, lastLook = time.Millisecond, 50 * time.Millisecond
)

// force is how hard to press a child and its descendants to end.
type force int

const (
	probe force = iota // only look for them
	soft               // ask them to end
	hard               // end them
)

// child is a process that was started. Each platform knows how to start one, to
// wait for it and to reach what descends from it.
type child struct {
	cmd    *exec.Cmd
	output *os.File
	before int64 // the output's size at the start
	began  time.Time
	tree   tree

	exited chan struct{} // closed when the child has ended
	ended  time.Time     // to be read after exited
	waited error         // what waiting returned, where it came with the end; to be read after exited
}

func run(ctx context.Context, s Spec, patience time.Duration) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, cancelled(ctx, s)
	}
	// Linux signals a child when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := start(s)
	if err != nil {
		return Result{}, fault.New(CodeStart, "%s cannot be started: %w", s.Argv[0], err).With("argv0", s.Argv[0])
	}
	end, watching := c.watch(ctx, s)
	state, err := c.finish(s.Grace, patience)
	if err = errors.Join(watching, err); err != nil {
		return Result{}, fault.New(CodeLost, "%s was started and is lost: %w", s.Argv[0], err).With("argv0", s.Argv[0])
	}
	if end == "" {
		return Result{}, cancelled(ctx, s)
	}
	// What it wrote after the last look counts as well, so that the verdict does
	// not depend on when we looked.
	grown, err := c.grown()
	if err != nil {
		return Result{}, fault.New(CodeLost, "what %s wrote cannot be measured: %w", s.Argv[0], err).With("argv0", s.Argv[0])
	}
	if end == Exited && grown > s.OutputLimit {
		end = OutputLimit
	}
	return Result{
		ExitCode:    state.ExitCode(),
		Signal:      signalName(state),
		End:         end,
		Duration:    c.ended.Sub(c.began),
		OutputBytes: grown,
	}, nil
}

func cancelled(ctx context.Context, s Spec) error {
	return fmt.Errorf("run %s: %w", s.Argv[0], context.Cause(ctx))
}

// start starts the child and a goroutine that waits for its end.
func start(s Spec) (*child, error) {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	cmd.Stdout, cmd.Stderr = s.Output, s.Output
	c := &child{cmd: cmd, output: s.Output, exited: make(chan struct{})}
	info, err := s.Output.Stat()
	if err != nil {
		return nil, err
	}
	c.before = info.Size()
	if err := c.prepare(s); err != nil {
		return nil, err
	}
	c.began = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.exited)
		c.waited = c.await()
		c.ended = time.Now()
	}()
	return c, nil
}

// watch returns when the child has ended or has to be: then it says why, with no
// End at all when ctx is done.
func (c *child) watch(ctx context.Context, s Spec) (End, error) {
	deadline := time.NewTimer(s.Timeout)
	defer deadline.Stop()
	look := time.NewTicker(sizeEvery)
	defer look.Stop()
	for {
		select {
		case <-c.exited:
			return Exited, nil
		case <-ctx.Done():
			return "", nil
		case <-deadline.C:
			return TimedOut, nil
		case <-look.C:
			if grown, err := c.grown(); err != nil || grown > s.OutputLimit {
				return OutputLimit, err
			}
		}
	}
}

// grown is by how many bytes the output has grown. A child that cut it short has
// written nothing.
func (c *child) grown() (int64, error) {
	info, err := c.output.Stat()
	if err != nil {
		return 0, err
	}
	return max(info.Size()-c.before, 0), nil
}

// finish ends whatever is still there, the child and its descendants, and returns
// how the child ended. On an error, some of them may be left, and goroutines
// that wait for the child too.
func (c *child) finish(grace, patience time.Duration) (*os.ProcessState, error) {
	gone := !c.press(soft) ||
		until(grace, func() bool { return !c.press(probe) }) ||
		until(patience, func() bool { return !c.press(hard) })
	select {
	case <-c.exited:
	case <-time.After(patience):
		go func() { // If it ends after all, it shall not stay a zombie.
			<-c.exited
			_ = c.reap()
		}()
		return nil, errors.New("it did not end when it was killed")
	}
	err := c.reap()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, err
	}
	if !gone {
		return nil, errors.New("what it started did not end when it was killed")
	}
	return c.cmd.ProcessState, nil
}

// until asks again and again, at least once, whether something is done, and
// reports whether it was before the time was over.
func until(limit time.Duration, done func() bool) bool {
	deadline := time.Now().Add(limit)
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if done() {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}
