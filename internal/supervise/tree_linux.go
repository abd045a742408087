package supervise

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is what is known of a child and its descendants. The first three fields are
// guarded by the registry's lock.
type tree struct {
	root process        // the child itself, 0 until it is started
	id   Identity       // as reserved: marker and folder
	seen map[int]uint64 // processes found, with their start times

	wait   func() error // takes the exit status, once
	clean  int          // consecutive scans that found nothing
	reaped time.Time    // the last reapOrphans
}

// reapEvery is how long a dead orphan may stay a zombie while a child runs.
const reapEvery = time.Second

// launch starts the child in a new session, with a marker.
func (c *child) launch(s Spec) error {
	c.tree = tree{id: s.Reserved, seen: map[int]uint64{}, wait: sync.OnceValue(c.cmd.Wait), reaped: c.began}
	if c.tree.id.EnvMarker == "" {
		c.tree.id = reserve(s.Reserved.Folder)
	}
	c.cmd.Env = append(c.cmd.Environ(), markerVariable(c.tree.id.EnvMarker))
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	if err := shared.add(c); err != nil {
		return err
	}
	if err := s.start(c.cmd); err != nil {
		shared.remove(c)
		return err
	}
	// The entry exists, since the exit status was not taken.
	root, ok := findProcess(fmt.Sprint(c.cmd.Process.Pid))
	if !ok {
		err := errors.Join(fmt.Errorf("%s does not show it", procDir), c.cmd.Process.Kill())
		_ = c.reap()
		shared.remove(c)
		return err
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	c.tree.root = root
	return nil
}

func (c *child) identity(Spec) Identity {
	id := c.tree.id
	id.PID, id.Start = c.tree.root.pid, c.tree.root.start
	return id
}

// await waits without taking the exit status: until that is taken, the child's number,
// which is also its group's, is not reused.
func (c *child) await() error {
	for {
		err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

func (c *child) reap() error { return c.tree.wait() }

func (c *child) release() { shared.remove(c) }

// reapOrphans now and then reaps dead orphans, of which a child may leave any number.
func (c *child) reapOrphans() {
	if time.Since(c.tree.reaped) < reapEvery {
		return
	}
	c.tree.reaped = time.Now()
	if someoneDied() {
		shared.reapOrphans()
	}
}

// signalAll signals the child and its descendants, and reports whether there may be any.
// A scan can miss a process whose parent ends meanwhile, so two scans in a row have to
// find nothing, unless the kernel knows that we have no children at all.
func (c *child) signalAll(s syscall.Signal) bool {
	exited := c.hasExited()
	if exited {
		_ = c.reap() // finish returns the error.
		if childless() {
			return false
		}
	}
	found, err := shared.scan(c)
	if err == nil && exited && len(found) == 0 {
		c.tree.clean++
		return c.tree.clean < 2
	}
	c.tree.clean = 0
	if s == probe {
		return true
	}
	root := c.cmd.Process.Pid
	inGroup := func(e process) bool { return e.group == root }
	// The kernel signals a group atomically, which no fork can outrun. The group's
	// number is not reused while it has a member, even a zombie.
	if !exited || slices.ContainsFunc(found, inGroup) {
		_ = syscall.Kill(-root, s)
	}
	for _, e := range found {
		if !inGroup(e) {
			e.signal(s)
		}
	}
	return true
}

// childless reports whether this program has no child, dead or alive. Then all
// descendants have ended, since orphans would be our children.
func childless() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}

// someoneDied reports whether a child of this program is a zombie.
func someoneDied() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return err == nil && info.Signo != 0
}
