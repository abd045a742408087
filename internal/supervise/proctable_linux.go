package supervise

import (
	"os"
	"sync"
	"time"
)

// processTable is who was there at one look, dead processes that nobody has reaped
// included.
type processTable struct {
	self     process
	all      []process
	children map[int][]process // by their parent's number
}

// readProcesses takes a look at all processes. One that starts or ends meanwhile may be
// missing.
func readProcesses() (processTable, error) {
	all, err := readStats()
	if err != nil {
		return processTable{}, err
	}
	p := processTable{all: all, children: byParent(all)}
	for _, e := range all {
		if e.pid == os.Getpid() {
			p.self = e
		}
	}
	return p, nil
}

// sharedSnapshot is where all look out of: those who come while a census is taken share the
// next one. Many children that end at once would else take one each.
type sharedSnapshot struct {
	mu    sync.Mutex
	began time.Time // when the last census began
	last  processTable
}

// scan returns a census that began after the call. It is to be read only.
func (w *sharedSnapshot) take() (processTable, error) {
	asked := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.After(asked) {
		return w.last, nil
	}
	began := time.Now()
	now, err := readProcesses()
	if err == nil {
		w.began, w.last = began, now
	}
	return now, err
}

// orphans are our children that are not in our own session: those that we keep, and
// those that came to us.
func (p processTable) orphans() []process {
	var orphans []process
	for _, e := range p.children[p.self.pid] {
		if e.session != p.self.session {
			orphans = append(orphans, e)
		}
	}
	return orphans
}

// ancestors are the numbers of this program and of those that it descends from.
func (p processTable) ancestors() map[int]bool {
	parents := make(map[int]int, len(p.all))
	for _, e := range p.all {
		parents[e.pid] = e.parent
	}
	above := map[int]bool{}
	for pid := p.self.pid; pid != 0 && !above[pid]; pid = parents[pid] {
		above[pid] = true
	}
	return above
}

func byParent(all []process) map[int][]process {
	children := make(map[int][]process, len(all))
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
	}
	return children
}

// closure adds all that are related to those found, and all that are related to
// these.
func closure(found []process, related func(process) []process) []process {
	in := make(map[int]bool, len(found))
	for _, e := range found {
		in[e.pid] = true
	}
	for i := 0; i < len(found); i++ { // found grows while it is walked
		for _, e := range related(found[i]) {
			if !in[e.pid] {
				in[e.pid] = true
				found = append(found, e)
			}
		}
	}
	return found
}
