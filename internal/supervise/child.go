package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The interval between polls of a quiet child doubles between these two. A child that
// writes much is polled at the short interval.
const minPoll, maxPoll = time.Millisecond, 25 * time.Millisecond

// burst is by how many bytes a busy writer grows between two polls, and what it may write
// beyond its limit during its grace.
const burst = 256 << 10

// probe is the signal that only checks whether a process exists.
const probe syscall.Signal = 0

// child is a process that was started. Each platform implements starting it, waiting for
// it and signalling its descendants.
type child struct {
	cmd   *exec.Cmd
	files outputFiles
	began time.Time
	tree  tree

	exited chan struct{}
	ended  time.Time // valid after exited is closed
	waited error     // valid after exited is closed
}

// start starts the child and a goroutine that waits for its end.
func start(s Spec) (*child, error) {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	cmd.Stdout, cmd.Stderr = s.Output, s.Output
	if s.Errors != nil {
		cmd.Stderr = s.Errors
	}
	if s.Input != nil {
		cmd.Stdin = s.Input
	}
	c := &child{cmd: cmd, files: outputFiles{output: s.Output, errors: s.Errors}, exited: make(chan struct{})}
	var err error
	if c.files.before, err = c.files.sizes(); err != nil {
		return nil, err
	}
	c.began = time.Now()
	if err := c.launch(s); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.exited)
		c.waited = c.await()
		c.ended = time.Now()
	}()
	return c, nil
}

func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// watch returns when the child has ended or has to end, with the reason; "" if ctx is
// done.
func (c *child) watch(ctx context.Context, s Spec) (End, error) {
	deadline := time.NewTimer(time.Until(c.began.Add(s.Timeout)))
	defer deadline.Stop()
	look := time.NewTimer(minPoll)
	defer look.Stop()
	var last size
	changed, pause := time.Now(), minPoll
	for {
		select {
		case <-c.exited:
			return Exited, nil
		case <-ctx.Done():
			return "", nil
		case <-deadline.C:
			return TimedOut, nil
		case <-look.C:
		}
		now, err := c.files.grown()
		if err != nil || now.sum() > s.OutputLimit {
			return OutputLimit, err
		}
		if s.Watch != nil {
			if end := s.Watch(); end != "" {
				return end, nil
			}
		}
		pause = min(2*pause, maxPoll)
		if now.sum() > last.sum()+burst {
			pause = minPoll
		}
		if now != last {
			last, changed = now, time.Now()
		} else if s.Idle > 0 && time.Since(changed) >= s.Idle {
			return Idle, nil
		}
		c.reapOrphans()
		look.Reset(pause)
	}
}

// finish ends the child and its descendants, and returns how the child ended and by how
// much its files grew. On an error, processes and goroutines that wait for them may be
// left.
func (c *child) finish(s Spec, timeout time.Duration) (*os.ProcessState, size, error) {
	gone := !c.signalAll(syscall.SIGTERM) || c.waitGrace(s) ||
		poll(timeout, func() bool { return !c.signalAll(syscall.SIGKILL) })
	select {
	case <-c.exited:
	case <-time.After(timeout):
		gone = false
	}
	if !gone {
		go c.reapLate()
		return nil, size{}, errors.New("it or what it started did not end when it was killed")
	}
	err := c.reap()
	c.release()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, size{}, err
	}
	grown, err := c.files.grown()
	return c.cmd.ProcessState, grown, err
}

// reapLate waits for a child that was given up, so that neither it nor its orphans stay
// zombies if they end after all.
func (c *child) reapLate() {
	<-c.exited
	poll(defaultKillTimeout, func() bool { return !c.signalAll(syscall.SIGKILL) })
	_ = c.reap()
	c.release()
}

// waitGrace reports whether the child and its descendants ended within their grace. A
// child that goes on writing loses its grace, before it fills the disk.
func (c *child) waitGrace(s Spec) bool {
	gone := false
	before, err := c.files.grown()
	poll(s.Grace, func() bool {
		if gone = !c.signalAll(probe); gone || err != nil {
			return true
		}
		var now size
		now, err = c.files.grown()
		return now.sum() > max(before.sum(), s.OutputLimit)+burst
	})
	return gone
}

// poll calls done at least once until it returns true or the time is over, and reports
// which.
func poll(limit time.Duration, done func() bool) bool {
	deadline := time.Now().Add(limit)
	for pause := minPoll; ; pause = min(2*pause, maxPoll) {
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

// outputFiles are the files that a child writes to, with their sizes at the start.
type outputFiles struct {
	output, errors *os.File // errors may be nil
	before         size
}

// size is the size of both files, or their growth, in bytes.
type size struct{ output, errors int64 }

func (s size) sum() int64 { return s.output + s.errors }

// grown is by how much the files grew, 0 for one that was truncated.
func (f outputFiles) grown() (size, error) {
	now, err := f.sizes()
	return size{max(now.output-f.before.output, 0), max(now.errors-f.before.errors, 0)}, err
}

func (f outputFiles) sizes() (s size, err error) {
	info, err := f.output.Stat()
	if err != nil {
		return s, err
	}
	s.output = info.Size()
	if f.errors == nil {
		return s, nil
	}
	if info, err = f.errors.Stat(); err != nil {
		return s, err
	}
	s.errors = info.Size()
	return s, nil
}
