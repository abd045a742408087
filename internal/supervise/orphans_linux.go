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
	o := orphanSweep{id: id, seen: map[int]uint64{}, sessions: map[int]bool{}, ended: map[int]uint64{}}
	gone := false
	press := func(s syscall.Signal) func() bool {
		return func() bool {
			gone = !o.signalAll(s)
			return gone || ctx.Err() != nil
		}
	}
	_ = press(syscall.SIGTERM)() || poll(grace, press(probe)) || poll(k.killTimeout, press(syscall.SIGKILL))
	switch {
	case gone:
		return len(o.ended), nil
	case ctx.Err() != nil:
		return len(o.ended), stopped()
	default:
		return len(o.ended), lost("a process survived SIGKILL")
	}
}

// runsBelow reports whether this program is a descendant of that child or has its marker. A
// sweep would end the process that started us.
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

// orphanSweep finds the remaining processes of a child of another supervisor.
type orphanSweep struct {
	id       Identity
	seen     map[int]uint64 // processes found, with their start times
	sessions map[int]bool   // their sessions
	ended    map[int]uint64 // processes that were signalled
	clean    int            // consecutive scans that found nothing
}

// signalAll does the same as child.signalAll.
func (o *orphanSweep) signalAll(s syscall.Signal) bool {
	found, err := o.scan()
	if err == nil && len(found) == 0 {
		o.clean++
		return o.clean < 2
	}
	o.clean = 0
	for _, e := range found {
		if !e.dead && s != probe {
			o.ended[e.pid] = e.start
			e.signal(s)
		}
	}
	return true
}

// scan finds the remaining processes, and reaps zombies that are our children. Other zombies
// do not count.
func (o *orphanSweep) scan() ([]process, error) {
	now, err := shared.snapshots.take()
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(o.members(now), func(e process) bool {
		o.seen[e.pid], o.sessions[e.session] = e.start, true
		return e.dead && e.parent != now.self.pid
	})
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.reap(left)
	return left, nil
}

// members returns the child if its number was not reused, all processes that have its marker
// or work in its directory, and all processes that descend from these or share a session with
// them: a process cannot join a session from outside. It omits this program, its ancestors,
// and all processes of its session.
func (o *orphanSweep) members(now processTable) []process {
	var found []process
	var others []process // candidates that may be related
	above := now.ancestors()
	sessions := map[int][]process{}
	for _, e := range now.all {
		if e.start < o.id.Start || above[e.pid] || e.session == now.self.session {
			continue
		}
		others = append(others, e)
		if e.session != 0 { // 0 means any session outside of our namespace.
			sessions[e.session] = append(sessions[e.session], e)
		}
		if o.id.is(e) || o.seen[e.pid] == e.start || o.hasMarker(e, now.self) {
			found = append(found, e)
		}
	}
	children := byParent(others)
	related := func(e process) []process { return slices.Concat(children[e.pid], sessions[e.session]) }
	found = closure(found, related)
	if o.id.Folder == "" {
		return found
	}
	// Listing open files is expensive, and most processes are known by now.
	known := make(map[int]bool, len(found))
	for _, e := range found {
		known[e.pid] = true
	}
	for _, e := range others {
		if !known[e.pid] && worksIn(e, o.id.Folder) {
			found = append(found, e)
		}
	}
	return closure(found, related)
}

// hasMarker reports whether a process has the marker. A zombie has no environment anymore; if
// it is our child, its session decides.
func (o *orphanSweep) hasMarker(e, self process) bool {
	if e.dead {
		return e.parent == self.pid && o.sessions[e.session]
	}
	return envMarkers(e.pid)[o.id.EnvMarker]
}

// is reports whether a process is the child itself, which is a session leader.
func (id Identity) is(e process) bool {
	return e.pid == id.PID && e.start == id.Start && e.session == e.pid
}
