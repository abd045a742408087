package process

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// markPrefix begins the name of the variable that marks a child. The rest of the
// name is random, so that a child that runs children of its own has several.
const markPrefix = "SWITCHYARD_CHILD_"

// tree is what is known of a child's descendants.
type tree struct {
	mark  []byte         // in the environment of all that inherited it
	since uint64         // nobody of the tree started before this
	seen  map[int]uint64 // who was found, with the time of the start
}

// prepare gives the child a session and a mark. Without a /proc that is ours we
// could not look for anybody, and start nothing.
func (c *child) prepare(Spec) error {
	self, ok := lookUp("self")
	if !ok || self.pid != os.Getpid() {
		return fmt.Errorf("%s does not show this process", procDir)
	}
	mark := markPrefix + rand.Text() + "=1"
	c.tree = tree{mark: []byte(mark), since: self.start, seen: map[int]uint64{}}
	c.cmd.Env = append(c.cmd.Environ(), mark)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	return nil
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

func (c *child) reap() error { return c.cmd.Wait() }

// press signals the child and all its descendants that live, and reports whether
// there were any.
func (c *child) press(f force) bool {
	members, err := c.tree.members(c.cmd.Process.Pid)
	if err != nil {
		members = nil // The group can still be reached.
	}
	if f == probe {
		return err != nil || len(members) > 0
	}
	// The kernel signals a whole group at once, which no fork can outrun.
	_ = syscall.Kill(-c.cmd.Process.Pid, f.signal())
	for _, m := range members {
		if m.group != c.cmd.Process.Pid {
			m.signal(f.signal())
		}
	}
	return err != nil || len(members) > 0
}

// members finds who lives of the tree below root. It remembers them: one whose
// parent is ended first could otherwise not be found again.
func (t *tree) members(root int) ([]entry, error) {
	all, err := running()
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	children := make(map[int][]entry)
	var found []entry
	for _, e := range all {
		if e.start < t.since || e.pid == self {
			continue
		}
		start, known := t.seen[e.pid]
		if e.pid == root || e.group == root || e.session == root || known && start == e.start || t.marks(e.pid) {
			found = append(found, e)
		} else {
			children[e.parent] = append(children[e.parent], e)
		}
	}
	for i := 0; i < len(found); i++ { // found grows while it is walked
		e := found[i]
		t.seen[e.pid] = e.start
		found = append(found, children[e.pid]...)
		delete(children, e.pid)
	}
	return found, nil
}

// marks reports whether a process inherited the tree's mark. One whose
// environment cannot be read did not, as far as we know.
func (t *tree) marks(pid int) bool {
	env, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(env, t.mark)
}
