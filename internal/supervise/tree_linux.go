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

// tree describes a child and its descendants. The registry's lock guards the first three
// fields.
type tree struct {
	root process        // the child itself, zero until it is started
	id   Identity       // as reserved: marker and folder
	seen map[int]uint64 // processes found, with their start times

	wait   func() error // takes the exit status, once
	clean  int          // consecutive scans that found nothing
	reaped time.Time    // the last reapOrphans
}

// reapEvery is the interval at which dead orphans are reaped while a child runs.
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
	// Even if the child has ended, the entry exists until its exit status is taken.
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

// await waits without taking the exit status, so that the number of the child and its group is
// not reused yet.
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

// reapOrphans reaps dead orphans from time to time, since a child may leave any number of
// them.
func (c *child) reapOrphans() {
	if time.Since(c.tree.reaped) < reapEvery {
		return
	}
	c.tree.reaped = time.Now()
	if hasZombie() {
		shared.reapOrphans()
	}
}

// signalAll signals the child and its descendants, and reports whether there may be any. A
// scan can miss a process whose parent ends meanwhile. So it returns false only after two
// scans in a row without a process, or if the kernel says that we have no children.
func (c *child) signalAll(s syscall.Signal) bool {
	exited := c.hasExited()
	if exited {
		_ = c.reap() // finish returns its error.
		if isChildless() {
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
	// The kernel signals a group atomically, so a member cannot escape by a fork. The group's
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

// isChildless reports whether this program has no child, dead or alive. Then all descendants
// have ended, since orphans would be our children.
func isChildless() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}

// hasZombie reports whether a child of this program is a zombie.
func hasZombie() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return err == nil && info.Signo != 0
}
