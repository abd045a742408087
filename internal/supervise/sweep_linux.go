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
func (k *Keeper) sweep(ctx context.Context, id Identity, grace time.Duration) (int, error) {
	who := fmt.Sprintf("process %d", id.PID)
	if id.PID == 0 {
		who = "a process that was announced"
	}
	lost := func(why string) error {
		return errs.New(errs.ProcessLost, "%s cannot be swept: %s", who, why).With("pid", id.PID)
	}
	stopped := func() error { return fmt.Errorf("sweep %s: %w", who, context.Cause(ctx)) }
	switch {
	case id.PID < 0 || id.PID == 1 || id.Start == 0 || !genuine(id.Mark) || !id.confined():
		return 0, lost("it is not told from others")
	case id.Boot != bootID():
		return 0, nil // The machine has started anew since.
	case below(id):
		return 0, lost("this program belongs to it")
	case ctx.Err() != nil:
		return 0, stopped()
	}
	h := hunt{id: id, seen: map[int]uint64{}, halls: map[int]bool{}, ended: map[int]uint64{}}
	gone := false
	press := func(f force) func() bool {
		return func() bool {
			gone = !h.press(f)
			return gone || ctx.Err() != nil
		}
	}
	_ = press(soft)() || until(grace, press(probe)) || until(k.patience, press(hard))
	switch {
	case gone:
		return len(h.ended), nil
	case ctx.Err() != nil:
		return len(h.ended), stopped()
	default:
		return len(h.ended), lost("somebody did not end when killed")
	}
}

// below reports whether this program or one that it descends from is that child or
// has its mark. Ending the others would end what we were started for.
func below(id Identity) bool {
	if slices.Contains(os.Environ(), variable(id.Mark)) {
		return true
	}
	for e, ok := lookUp("self"); ok; e, ok = lookUp(strconv.Itoa(e.parent)) {
		if id.is(e) || marksOf(e.pid)[id.Mark] {
			return true
		}
	}
	return false
}

// hunt looks for what is left of a child that had another keeper.
type hunt struct {
	id    Identity
	seen  map[int]uint64 // who was found, with the time of the start
	halls map[int]bool   // the sessions of these
	ended map[int]uint64 // who of these lived
	clean int            // how many looks in a row found nobody
}

// press is like that of a child.
func (h *hunt) press(f force) bool {
	found, err := h.look()
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

// look finds who is left, and reaps the dead whose parent we became. Other dead ones
// are their parents' and do not count.
func (h *hunt) look() ([]entry, error) {
	now, err := home.window.look()
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(h.members(now), func(e entry) bool {
		h.seen[e.pid], h.halls[e.session] = e.start, true
		return e.dead && e.parent != now.self.pid
	})
	home.mu.Lock()
	defer home.mu.Unlock()
	home.bury(left)
	return left, nil
}

// members are the child if the number is still its own, whoever has its mark or
// works in its folder, and all that descend from these or share a session with
// them: nobody can join a session from outside. This program, those that it descends
// from and what it started are none of them.
func (h *hunt) members(now population) []entry {
	var found []entry
	var others []entry // who may belong to it, if related to one that does
	above := now.above()
	sessions := map[int][]entry{}
	for _, e := range now.all {
		if e.start < h.id.Start || above[e.pid] || e.session == now.self.session {
			continue
		}
		others = append(others, e)
		if e.session != 0 { // The number of all sessions outside of our namespace.
			sessions[e.session] = append(sessions[e.session], e)
		}
		if h.id.is(e) || h.seen[e.pid] == e.start || h.shows(e, now.self) {
			found = append(found, e)
		}
	}
	children := byParent(others)
	related := func(e entry) []entry { return slices.Concat(children[e.pid], sessions[e.session]) }
	found = spread(found, related)
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
	return spread(found, related)
}

// shows reports whether a process bears the mark. One that has ended shows none any
// more; if it was left to us, the session is enough to reap it.
func (h *hunt) shows(e, self entry) bool {
	if e.dead {
		return e.parent == self.pid && h.halls[e.session]
	}
	return marksOf(e.pid)[h.id.Mark]
}

// is reports whether a process is the child itself, which leads its session for life.
func (id Identity) is(e entry) bool {
	return e.pid == id.PID && e.start == id.Start && e.session == e.pid
}
