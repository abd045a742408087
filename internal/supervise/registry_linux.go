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

// Cleanup says what becomes of the processes that a child started. New was called before.
func Cleanup() string {
	all := "whatever an agent or a command started ends with it"
	if subreap() != nil {
		all += ", except what left its session: this system has no subreapers"
	}
	return all
}

// shared is the only variable of this package. Linux reparents orphans to the program, so
// all Supervisors have to know of each other's children: otherwise one would end those of
// another.
var shared registry

// registry has all children of this program. Its lock is held during a scan of the
// processes, never while starting or waiting.
type registry struct {
	mu          sync.Mutex
	children    map[*child]struct{} // from before the start until the exit status is taken
	preexisting map[int]uint64      // children before all of these, with their start times

	snapshots sharedSnapshot
}

// adopt makes this program the subreaper of its descendants. Files that it inherited
// without need, such as a lock of its caller, stay with it.
func adopt() error {
	if self, ok := findProcess("self"); !ok || self.pid != os.Getpid() {
		return fmt.Errorf("%s does not show this process", procDir)
	}
	// An older kernel does not have this; Go's own files are not inherited anyway.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err := subreap(); !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil // QEMU's user-mode emulation has no subreapers. Orphans are found by their marker.
}

func subreap() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// add registers a child that is about to be started. The first one records which children
// exist already.
func (h *registry) add(c *child) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.children) == 0 {
		foreign := map[int]uint64{}
		if !childless() {
			now, err := readProcesses()
			if err != nil {
				return err
			}
			for _, e := range now.orphans() {
				foreign[e.pid] = e.start
			}
		}
		h.children, h.preexisting = map[*child]struct{}{}, foreign
	}
	h.children[c] = struct{}{}
	return nil
}

// remove removes a child whose exit status was taken, or that was not started.
func (h *registry) remove(c *child) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.children, c)
}

// scan finds the child, its descendants, and the orphans that can only be its own. It
// remembers them, since one whose parent ends first could not be attributed later. It
// reaps the dead ones that are ours.
func (h *registry) scan(c *child) ([]process, error) {
	now, err := h.snapshots.take()
	if err != nil {
		return nil, err
	}
	// Every child in the snapshot was registered before it.
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []process
	for _, e := range now.orphans() {
		if !h.isPreexisting(e) && h.belongs(e, c) {
			found = append(found, e)
		}
	}
	found = closure(found, func(e process) []process { return now.children[e.pid] })
	for _, e := range found {
		c.tree.seen[e.pid] = e.start
	}
	h.reap(found)
	return found, nil
}

// reapOrphans reaps all dead orphans.
func (h *registry) reapOrphans() {
	now, err := h.snapshots.take()
	if err != nil {
		return // Try again next time.
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range now.orphans() {
		if !h.isPreexisting(e) {
			h.reap([]process{e})
		}
	}
}

func (h *registry) isPreexisting(e process) bool { return h.preexisting[e.pid] == e.start }

// belongs reports whether a child of this program is c or one of its orphans.
func (h *registry) belongs(e process, c *child) bool {
	if owner := h.owner(e); owner != nil {
		return owner == c
	}
	for other := range h.children {
		root := other.tree.root
		if other != c && (root.pid == 0 || root.start <= e.start) {
			return false
		}
	}
	return true
}

// owner returns the child that e is or comes from, nil if unknown.
func (h *registry) owner(e process) *child {
	for c := range h.children {
		t := &c.tree
		if t.root.pid != 0 && (e.pid == t.root.pid || e.session == t.root.pid) || t.seen[e.pid] == e.start {
			return c
		}
	}
	if len(h.children) == 1 {
		return nil // No marker is needed to decide.
	}
	marks, starting := envMarkers(e.pid), false
	for c := range h.children {
		if marks[c.tree.id.EnvMarker] {
			return c
		}
		starting = starting || c.tree.root.pid == 0
	}
	if starting {
		return nil // It may be e, which has all our files open until it executes its program.
	}
	for place := range workPaths(e) {
		for c := range h.children {
			if within(place, c.tree.id.Folder) {
				return c
			}
		}
	}
	return nil
}

// reap reaps those of found that are dead and our direct children. The exit status of a
// supervised child is taken by its Supervisor; of one that is being started we do not
// know the number yet.
func (h *registry) reap(found []process) {
	taken := map[int]bool{}
	for c := range h.children {
		if c.tree.root.pid == 0 {
			return
		}
		taken[c.tree.root.pid] = true
	}
	for _, e := range found {
		if !e.dead || e.parent != os.Getpid() || taken[e.pid] {
			continue
		}
		// It may have been reaped since, and its number reused.
		if now, ok := findProcess(strconv.Itoa(e.pid)); ok && now == e {
			_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
		}
	}
}
