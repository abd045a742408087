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
const firstLook, lastLook = time.Millisecond, 25 * time.Millisecond

// much is by how many bytes a busy writer grows between two looks, and what one
// may still write beyond its limit while it has its grace.
const much = 256 << 10

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
	cmd   *exec.Cmd
	files streams
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
	files, err := measure(s.Output, s.Errors)
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
	look := time.NewTimer(firstLook)
	defer look.Stop()
	var last size
	changed, pause := time.Now(), firstLook
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
		pause = min(2*pause, lastLook)
		if now.sum() > last.sum()+much {
			pause = firstLook
		}
		if now != last {
			last, changed = now, time.Now()
		} else if s.Idle > 0 && time.Since(changed) >= s.Idle {
			return Idle, nil
		}
		c.tidy()
		look.Reset(pause)
	}
}

// finish ends whatever is still there, the child and its descendants, and returns
// how the child ended and by how much its files have grown. On an error, some of
// them may be left, and goroutines that wait for the child too.
func (c *child) finish(s Spec, patience time.Duration) (*os.ProcessState, size, error) {
	gone := !c.press(soft) || c.yields(s) ||
		until(patience, func() bool { return !c.press(hard) })
	select {
	case <-c.exited:
	case <-time.After(patience):
		gone = false
	}
	if !gone {
		go c.linger()
		return nil, size{}, errors.New("it or what it started did not end when it was killed")
	}
	err := c.reap()
	c.forget()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, size{}, err
	}
	grown, err := c.files.grown()
	return c.cmd.ProcessState, grown, err
}

// linger waits for a child that was given up. If it ends after all, neither it nor an
// orphan of it shall stay a zombie.
func (c *child) linger() {
	<-c.exited
	until(killTime, func() bool { return !c.press(hard) })
	_ = c.reap()
	c.forget()
}

// yields gives the child and its descendants their grace, and reports whether they
// ended in it. Who goes on writing loses it: the disk would else fill up meanwhile.
func (c *child) yields(s Spec) bool {
	gone := false
	before, err := c.files.grown()
	until(s.Grace, func() bool {
		if gone = !c.press(probe); gone || err != nil {
			return true
		}
		var now size
		now, err = c.files.grown()
		return now.sum() > max(before.sum(), s.OutputLimit)+much
	})
	return gone
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
