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

// tree is what is known of a child and of what descends from it. The first three
// fields are guarded by the house's lock.
type tree struct {
	root process        // the child itself, without a number until it is started
	id   Identity       // as it was announced: the mark and the folder of all that descend from it
	seen map[int]uint64 // who was found, with the time of the start

	wait   func() error // takes the exit status, once
	clean  int          // how many looks in a row found nobody
	reaped time.Time    // when dead orphans were last looked for
}

// reapEvery is for how long a dead orphan may stay a zombie while a child runs.
const reapEvery = time.Second

// launch starts the child in a session of its own, with a mark.
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
	if err := c.cmd.Start(); err != nil {
		shared.remove(c)
		return err
	}
	// It is there, dead or alive: nobody has taken its exit status.
	root, ok := findProcess(fmt.Sprint(c.cmd.Process.Pid))
	if !ok {
		err := errors.Join(fmt.Errorf("%s does not show it", procDir), c.cmd.Process.Kill())
		_ = c.reap()
		shared.remove(c)
		return err
	}
	shared.setRoot(c, root)
	return nil
}

// identity is that of the child, once it is started.
func (c *child) identity(Spec) Identity {
	id := c.tree.id
	id.PID, id.Start = c.tree.root.pid, c.tree.root.start
	return id
}

// await leaves the exit status where it is: until it is taken, nobody else can
// get the child's number, which is also the number of its group.
func (c *child) await() error {
	for {
		err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

func (c *child) reap() error { return c.tree.wait() }

// release gives up the child's place in the house.
func (c *child) release() { shared.remove(c) }

// reapOrphans now and then reaps dead orphans, which a child may leave without end.
func (c *child) reapOrphans() {
	if time.Since(c.tree.reaped) < reapEvery {
		return
	}
	c.tree.reaped = time.Now()
	if someoneDied() {
		shared.reapOrphans()
	}
}

// signalAll signals the child and all its descendants that live, and reports whether
// there may be any. A look can miss one whose parent ends under our eyes, so two in
// a row have to find nobody, unless the kernel knows that there is nobody at all.
func (c *child) signalAll(f pressure) bool {
	exited := c.hasExited()
	if exited {
		_ = c.reap() // Whoever finishes the child asks for the error.
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
	if f == probe {
		return true
	}
	root := c.cmd.Process.Pid
	inGroup := func(e process) bool { return e.group == root }
	// The kernel signals a whole group at once, which no fork can outrun. Its number
	// is not used again while it has a member, a dead one included.
	if !exited || slices.ContainsFunc(found, inGroup) {
		_ = syscall.Kill(-root, f.signal())
	}
	for _, e := range found {
		if !inGroup(e) {
			e.signal(f.signal())
		}
	}
	return true
}

// childless reports whether this program has no child, dead or alive. All who
// descend from it then have ended: their orphans would be its children.
func childless() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}

// someoneDied reports whether a child of this program waits to be reaped.
func someoneDied() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return err == nil && info.Signo != 0
}
