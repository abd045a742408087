package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// While a child is quiet, it is looked at in steps that double between these two;
// one that writes much is looked at as often as it goes.
const minPoll, maxPoll = time.Millisecond, 25 * time.Millisecond

// burst is by how many bytes a busy writer grows between two looks, and what one
// may still write beyond its limit while it has its grace.
const burst = 256 << 10

// pressure is how hard to press a child and its descendants to end.
type pressure int

const (
	probe pressure = iota // only look for them
	soft                  // ask them to end
	hard                  // end them
)

// child is a process that was started. Each platform knows how to start one, to
// wait for it and to reach what descends from it.
type child struct {
	cmd   *exec.Cmd
	files outputFiles
	began time.Time
	tree  tree

	exited chan struct{} // closed when the child has ended
	ended  time.Time     // to be read after exited
	waited error         // what waiting returned, where it came with the end; to be read after exited
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
	files, err := newOutputFiles(s.Output, s.Errors)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, files: files, exited: make(chan struct{})}
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

// hasExited reports whether the child has ended.
func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// watch returns when the child has ended or has to be: then it says why, with no
// End at all when ctx is done.
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

// finish ends whatever is still there, the child and its descendants, and returns
// how the child ended and by how much its files have grown. On an error, some of
// them may be left, and goroutines that wait for the child too.
func (c *child) finish(s Spec, patience time.Duration) (*os.ProcessState, size, error) {
	gone := !c.signalAll(soft) || c.waitGrace(s) ||
		poll(patience, func() bool { return !c.signalAll(hard) })
	select {
	case <-c.exited:
	case <-time.After(patience):
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

// reapLate waits for a child that was given up. If it ends after all, neither it nor an
// orphan of it shall stay a zombie.
func (c *child) reapLate() {
	<-c.exited
	poll(defaultKillTimeout, func() bool { return !c.signalAll(hard) })
	_ = c.reap()
	c.release()
}

// waitGrace gives the child and its descendants their grace, and reports whether they
// ended in it. Who goes on writing loses it: the disk would else fill up meanwhile.
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

// poll asks again and again, at least once, whether something is done, and
// reports whether it was before the time was over.
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
