package supervise

import (
	"os"
	"sync"
	"time"
)

// population is who was there at one look, dead processes that nobody has reaped
// included.
type population struct {
	self     entry
	all      []entry
	children map[int][]entry // by their parent's number
}

// census takes a look at all processes. One that starts or ends meanwhile may be
// missing.
func census() (population, error) {
	all, err := processes()
	if err != nil {
		return population{}, err
	}
	p := population{all: all, children: byParent(all)}
	for _, e := range all {
		if e.pid == os.Getpid() {
			p.self = e
		}
	}
	return p, nil
}

// window is where all look out of: those who come while a census is taken share the
// next one. Many children that end at once would else take one each.
type window struct {
	mu    sync.Mutex
	began time.Time // when the last census began
	last  population
}

// look returns a census that began after the call. It is to be read only.
func (w *window) look() (population, error) {
	asked := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.After(asked) {
		return w.last, nil
	}
	began := time.Now()
	now, err := census()
	if err == nil {
		w.began, w.last = began, now
	}
	return now, err
}

// orphans are our children that are not in our own session: those that we keep, and
// those that came to us.
func (p population) orphans() []entry {
	var orphans []entry
	for _, e := range p.children[p.self.pid] {
		if e.session != p.self.session {
			orphans = append(orphans, e)
		}
	}
	return orphans
}

// above are the numbers of this program and of those that it descends from.
func (p population) above() map[int]bool {
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

func byParent(all []entry) map[int][]entry {
	children := make(map[int][]entry, len(all))
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
	}
	return children
}

// spread adds all that are related to those found, and all that are related to
// these.
func spread(found []entry, related func(entry) []entry) []entry {
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
