package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The interval between polls doubles from minPoll to maxPoll while a child is quiet. A child
// that writes much is polled at minPoll.
const minPoll, maxPoll = time.Millisecond, 25 * time.Millisecond

// burst is the growth between two polls, in bytes, that marks a busy writer. A child may
// exceed its limit by as much during its grace.
const burst = 256 << 10

// probe is the signal that only checks whether a process exists.
const probe syscall.Signal = 0

// child is a process that was started. Each platform has its own code to start it, to wait for
// it and to signal its descendants.
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

// watch returns when the child has ended or has to end, with the reason, or "" if ctx is done.
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

// finish ends the child and its descendants, and returns the state of the child and the growth
// of its files. After an error, processes may remain, and goroutines that wait for them.
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
		return nil, size{}, errors.New("it or a process that it started did not end when it was killed")
	}
	err := c.reap()
	c.release()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, size{}, err
	}
	grown, err := c.files.grown()
	return c.cmd.ProcessState, grown, err
}

// reapLate waits for a child that finish gave up on, so that neither it nor its orphans remain
// as zombies if they end later.
func (c *child) reapLate() {
	<-c.exited
	poll(defaultKillTimeout, func() bool { return !c.signalAll(syscall.SIGKILL) })
	_ = c.reap()
	c.release()
}

// waitGrace reports whether the child and its descendants ended within their grace. The grace
// ends early for a child that keeps writing, before it fills the disk.
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

// poll calls done at least once, until it returns true or the time is over. It returns the
// last result of done.
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

// size has the sizes of both files, or their growth, in bytes.
type size struct{ output, errors int64 }

func (s size) sum() int64 { return s.output + s.errors }

// grown returns the growth of the files, 0 for a file that was truncated.
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
