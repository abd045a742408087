package supervise

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// shared is the one variable of this package. Linux hands orphans to a program and
// not to a part of it, so all Keepers have to know of each other's children: one
// would else end those of another.
var shared registry

// registry is what this program knows of its children. Its lock is held for a look at
// the processes at most, never while a program is started or somebody waited for.
type registry struct {
	mu          sync.Mutex
	children    map[*child]struct{} // from before the start until the exit status is taken
	preexisting map[int]uint64      // who was here before all of these, with the time of the start

	snapshots sharedSnapshot
}

// adopt makes this program the parent of its orphaned descendants.
func adopt() error {
	if self, ok := findProcess("self"); !ok || self.pid != os.Getpid() {
		return fmt.Errorf("%s does not show this process", procDir)
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// add takes in a child that is about to be started. The first one finds out who
// is there already.
func (h *registry) add(c *child) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.children) == 0 {
		strangers := map[int]uint64{}
		if !childless() {
			now, err := readProcesses()
			if err != nil {
				return err
			}
			for _, e := range now.orphans() {
				strangers[e.pid] = e.start
			}
		}
		h.children, h.preexisting = map[*child]struct{}{}, strangers
	}
	h.children[c] = struct{}{}
	return nil
}

// setRoot says which process a child became.
func (h *registry) setRoot(c *child, root process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.tree.root = root
}

// remove lets go a child whose exit status was taken, or that was not started.
func (h *registry) remove(c *child) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.children, c)
}

// scan finds the child, what descends from it, and the orphans that can be of no
// other one. It remembers them: one whose parent is ended first could otherwise be
// anybody's. The dead among them are reaped if that is ours to do.
func (h *registry) scan(c *child) ([]process, error) {
	now, err := h.snapshots.take()
	if err != nil {
		return nil, err
	}
	// Who is in the census was in the house before, if it is a child.
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

// reapOrphans reaps the dead orphans, whosever they were.
func (h *registry) reapOrphans() {
	now, err := h.snapshots.take()
	if err != nil {
		return // The next one may go better.
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

// owner returns the child that e is or comes from, nil if nothing tells.
func (h *registry) owner(e process) *child {
	for c := range h.children {
		t := &c.tree
		if t.root.pid != 0 && (e.pid == t.root.pid || e.session == t.root.pid) || t.seen[e.pid] == e.start {
			return c
		}
	}
	if len(h.children) == 1 {
		return nil // Whose mark it has does not matter then.
	}
	marks, starting := envMarkers(e.pid), false
	for c := range h.children {
		if marks[c.tree.id.EnvMarker] {
			return c
		}
		starting = starting || c.tree.root.pid == 0
	}
	if starting {
		return nil // That may be e: until it becomes its program, it has all our files open.
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

// reap reaps those of found that are dead and whose parent we are. The exit status
// of a child itself is its keeper's, and one that is being started we do not know.
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
		// Somebody may have reaped it since, and its number be another's.
		if now, ok := findProcess(strconv.Itoa(e.pid)); ok && now == e {
			_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
		}
	}
}
