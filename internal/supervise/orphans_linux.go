package supervise

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// sweep implements Sweep.
func (k *Supervisor) sweep(ctx context.Context, id Identity, grace time.Duration) (int, error) {
	who := fmt.Sprintf("process %d", id.PID)
	if id.PID == 0 {
		who = "a reserved process"
	}
	lost := func(why string) error {
		return errs.New(errs.ProcessLost, "%s cannot be swept: %s", who, why).With("pid", id.PID)
	}
	stopped := func() error { return fmt.Errorf("sweep %s: %w", who, context.Cause(ctx)) }
	switch {
	case id.PID < 0 || id.PID == 1 || id.Start == 0 || !validMarker(id.EnvMarker) || !id.validFolder():
		return 0, lost("incomplete process identity")
	case id.Boot != bootID():
		return 0, nil // The machine was rebooted.
	case runsBelow(id):
		return 0, lost("this program runs below it")
	case ctx.Err() != nil:
		return 0, stopped()
	}
	h := orphanSweep{id: id, seen: map[int]uint64{}, sessions: map[int]bool{}, ended: map[int]uint64{}}
	gone := false
	press := func(s syscall.Signal) func() bool {
		return func() bool {
			gone = !h.signalAll(s)
			return gone || ctx.Err() != nil
		}
	}
	_ = press(syscall.SIGTERM)() || poll(grace, press(probe)) || poll(k.killTimeout, press(syscall.SIGKILL))
	switch {
	case gone:
		return len(h.ended), nil
	case ctx.Err() != nil:
		return len(h.ended), stopped()
	default:
		return len(h.ended), lost("a process survived SIGKILL")
	}
}

// runsBelow reports whether this program is a descendant of that child or has its marker.
// Sweeping would end whatever started us.
func runsBelow(id Identity) bool {
	if slices.Contains(os.Environ(), markerVariable(id.EnvMarker)) {
		return true
	}
	for e, ok := findProcess("self"); ok; e, ok = findProcess(strconv.Itoa(e.parent)) {
		if id.is(e) || envMarkers(e.pid)[id.EnvMarker] {
			return true
		}
	}
	return false
}

// orphanSweep finds what is left of a child of another supervisor.
type orphanSweep struct {
	id       Identity
	seen     map[int]uint64 // processes found, with their start times
	sessions map[int]bool   // their sessions
	ended    map[int]uint64 // those that were signalled
	clean    int            // consecutive scans that found nothing
}

// signalAll is like that of a child.
func (h *orphanSweep) signalAll(s syscall.Signal) bool {
	found, err := h.scan()
	if err == nil && len(found) == 0 {
		h.clean++
		return h.clean < 2
	}
	h.clean = 0
	for _, e := range found {
		if !e.dead && s != probe {
			h.ended[e.pid] = e.start
			e.signal(s)
		}
	}
	return true
}

// scan finds what is left, and reaps the zombies that are our children. Other zombies do
// not count.
func (h *orphanSweep) scan() ([]process, error) {
	now, err := shared.snapshots.take()
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(h.members(now), func(e process) bool {
		h.seen[e.pid], h.sessions[e.session] = e.start, true
		return e.dead && e.parent != now.self.pid
	})
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.reap(left)
	return left, nil
}

// members are the child if its number was not reused, all processes with its marker or
// working in its folder, and all that descend from these or share a session with them: no
// process can join a session from outside. This program, its ancestors and its children
// are excluded.
func (h *orphanSweep) members(now processTable) []process {
	var found []process
	var others []process // candidates that may be related
	above := now.ancestors()
	sessions := map[int][]process{}
	for _, e := range now.all {
		if e.start < h.id.Start || above[e.pid] || e.session == now.self.session {
			continue
		}
		others = append(others, e)
		if e.session != 0 { // 0 stands for all sessions outside of our namespace.
			sessions[e.session] = append(sessions[e.session], e)
		}
		if h.id.is(e) || h.seen[e.pid] == e.start || h.hasMarker(e, now.self) {
			found = append(found, e)
		}
	}
	children := byParent(others)
	related := func(e process) []process { return slices.Concat(children[e.pid], sessions[e.session]) }
	found = closure(found, related)
	if h.id.Folder == "" {
		return found
	}
	// Listing open files is expensive, and most processes are known by now.
	known := make(map[int]bool, len(found))
	for _, e := range found {
		known[e.pid] = true
	}
	for _, e := range others {
		if !known[e.pid] && worksIn(e, h.id.Folder) {
			found = append(found, e)
		}
	}
	return closure(found, related)
}

// hasMarker reports whether a process has the marker. A zombie has no environment any
// more; if it is our child, its session decides.
func (h *orphanSweep) hasMarker(e, self process) bool {
	if e.dead {
		return e.parent == self.pid && h.sessions[e.session]
	}
	return envMarkers(e.pid)[h.id.EnvMarker]
}

// is reports whether a process is the child itself, which is a session leader.
func (id Identity) is(e process) bool {
	return e.pid == id.PID && e.start == id.Start && e.session == e.pid
}
