package supervise

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// sweep is Keeper.Sweep.
func (k *Supervisor) sweep(ctx context.Context, id Identity, grace time.Duration) (int, error) {
	who := fmt.Sprintf("process %d", id.PID)
	if id.PID == 0 {
		who = "a process that was announced"
	}
	lost := func(why string) error {
		return errs.New(errs.ProcessLost, "%s cannot be swept: %s", who, why).With("pid", id.PID)
	}
	stopped := func() error { return fmt.Errorf("sweep %s: %w", who, context.Cause(ctx)) }
	switch {
	case id.PID < 0 || id.PID == 1 || id.Start == 0 || !validMarker(id.EnvMarker) || !id.validFolder():
		return 0, lost("it is not told from others")
	case id.Boot != bootID():
		return 0, nil // The machine has started anew since.
	case runsBelow(id):
		return 0, lost("this program belongs to it")
	case ctx.Err() != nil:
		return 0, stopped()
	}
	h := orphanSweep{id: id, seen: map[int]uint64{}, sessions: map[int]bool{}, ended: map[int]uint64{}}
	gone := false
	press := func(f pressure) func() bool {
		return func() bool {
			gone = !h.signalAll(f)
			return gone || ctx.Err() != nil
		}
	}
	_ = press(soft)() || poll(grace, press(probe)) || poll(k.killTimeout, press(hard))
	switch {
	case gone:
		return len(h.ended), nil
	case ctx.Err() != nil:
		return len(h.ended), stopped()
	default:
		return len(h.ended), lost("somebody did not end when killed")
	}
}

// runsBelow reports whether this program or one that it descends from is that child or
// has its mark. Ending the others would end what we were started for.
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

// orphanSweep looks for what is left of a child that had another keeper.
type orphanSweep struct {
	id       Identity
	seen     map[int]uint64 // who was found, with the time of the start
	sessions map[int]bool   // the sessions of these
	ended    map[int]uint64 // who of these lived
	clean    int            // how many looks in a row found nobody
}

// signalAll is like that of a child.
func (h *orphanSweep) signalAll(f pressure) bool {
	found, err := h.scan()
	if err == nil && len(found) == 0 {
		h.clean++
		return h.clean < 2
	}
	h.clean = 0
	for _, e := range found {
		if !e.dead && f != probe {
			h.ended[e.pid] = e.start
			e.signal(f.signal())
		}
	}
	return true
}

// scan finds who is left, and reaps the dead whose parent we became. Other dead ones
// are their parents' and do not count.
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

// members are the child if the number is still its own, whoever has its mark or
// works in its folder, and all that descend from these or share a session with
// them: nobody can join a session from outside. This program, those that it descends
// from and what it started are none of them.
func (h *orphanSweep) members(now processTable) []process {
	var found []process
	var others []process // who may belong to it, if related to one that does
	above := now.ancestors()
	sessions := map[int][]process{}
	for _, e := range now.all {
		if e.start < h.id.Start || above[e.pid] || e.session == now.self.session {
			continue
		}
		others = append(others, e)
		if e.session != 0 { // The number of all sessions outside of our namespace.
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
	// Asking for open files is dear, and most are known by now.
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

// hasMarker reports whether a process bears the mark. One that has ended shows none any
// more; if it was left to us, the session is enough to reap it.
func (h *orphanSweep) hasMarker(e, self process) bool {
	if e.dead {
		return e.parent == self.pid && h.sessions[e.session]
	}
	return envMarkers(e.pid)[h.id.EnvMarker]
}

// is reports whether a process is the child itself, which leads its session for life.
func (id Identity) is(e process) bool {
	return e.pid == id.PID && e.start == id.Start && e.session == e.pid
}
