package supervise

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Cleanup describes in one sentence the fate of the processes that a child started. It must be
// called after New.
func Cleanup() string {
	all := "whatever an agent or a command started ends with it"
	if subreap() != nil {
		all += ", except what left its session: this system has no subreapers"
	}
	return all
}

// shared is the only variable of this package. Linux reparents orphans to the program, so all
// Supervisors have to know each other's children. Otherwise one would end the children of
// another.
var shared registry

// registry has all children of this program. Its lock is held during a scan of the processes,
// but never during a start or a wait.
type registry struct {
	mu          sync.Mutex
	children    map[*child]struct{} // from before the start until the exit status is taken
	preexisting map[int]uint64      // children before all of these, with their start times

	snapshots sharedSnapshot
}

// adopt makes this program the subreaper of its descendants, and keeps descriptors that it
// inherited, such as a lock of its caller, from its children.
func adopt() error {
	if self, ok := findProcess("self"); !ok || self.pid != os.Getpid() {
		return fmt.Errorf("%s does not show this process", procDir)
	}
	// An older kernel does not have this. Files that Go opens are not inherited anyway.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err := subreap(); !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil // QEMU's user-mode emulation has no subreapers. Orphans are found by their marker.
}

func subreap() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// add registers a child that is about to be started. The first one records which children
// exist already.
func (r *registry) add(c *child) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.children) == 0 {
		foreign := map[int]uint64{}
		if !isChildless() {
			now, err := readProcesses()
			if err != nil {
				return err
			}
			for _, e := range now.orphans() {
				foreign[e.pid] = e.start
			}
		}
		r.children, r.preexisting = map[*child]struct{}{}, foreign
	}
	r.children[c] = struct{}{}
	return nil
}

// remove removes a child after its exit status was taken, or after a failed start.
func (r *registry) remove(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.children, c)
}

// scan finds the child, its descendants, and the orphans that cannot belong to another child.
// It remembers them, since a process whose parent ends first could not be attributed later. It
// reaps zombies that are our children.
func (r *registry) scan(c *child) ([]process, error) {
	now, err := r.snapshots.take()
	if err != nil {
		return nil, err
	}
	// Every child in the snapshot was registered before it.
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []process
	for _, e := range now.orphans() {
		if !r.isPreexisting(e) && r.belongs(e, c) {
			found = append(found, e)
		}
	}
	found = closure(found, func(e process) []process { return now.children[e.pid] })
	for _, e := range found {
		c.tree.seen[e.pid] = e.start
	}
	r.reap(found)
	return found, nil
}

func (r *registry) reapOrphans() {
	now, err := r.snapshots.take()
	if err != nil {
		return // The next call tries again.
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range now.orphans() {
		if !r.isPreexisting(e) {
			r.reap([]process{e})
		}
	}
}

func (r *registry) isPreexisting(e process) bool { return r.preexisting[e.pid] == e.start }

// belongs reports whether a child of this program is c or one of its orphans.
func (r *registry) belongs(e process, c *child) bool {
	if owner := r.owner(e); owner != nil {
		return owner == c
	}
	for other := range r.children {
		root := other.tree.root
		if other != c && (root.pid == 0 || root.start <= e.start) {
			return false
		}
	}
	return true
}

// owner returns the child that e is or descends from, or nil if it is unknown.
func (r *registry) owner(e process) *child {
	for c := range r.children {
		t := &c.tree
		if t.root.pid != 0 && (e.pid == t.root.pid || e.session == t.root.pid) || t.seen[e.pid] == e.start {
			return c
		}
	}
	if len(r.children) == 1 {
		return nil // belongs decides without a marker.
	}
	marks, starting := envMarkers(e.pid), false
	for c := range r.children {
		if marks[c.tree.id.EnvMarker] {
			return c
		}
		starting = starting || c.tree.root.pid == 0
	}
	if starting {
		return nil // e may be that child, which has all our files open until it executes its program.
	}
	for place := range workPaths(e) {
		for c := range r.children {
			if within(place, c.tree.id.Folder) {
				return c
			}
		}
	}
	return nil
}

// reap reaps the zombies in found that are our children. It skips supervised children, because
// their Supervisors take the exit status. It returns if a child is being started, because the
// number of that is not known yet.
func (r *registry) reap(found []process) {
	taken := map[int]bool{}
	for c := range r.children {
		if c.tree.root.pid == 0 {
			return
		}
		taken[c.tree.root.pid] = true
	}
	for _, e := range found {
		if !e.dead || e.parent != os.Getpid() || taken[e.pid] {
			continue
		}
		// It may have been reaped meanwhile, and its number reused.
		if now, ok := findProcess(strconv.Itoa(e.pid)); ok && now == e {
			_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
		}
	}
}
