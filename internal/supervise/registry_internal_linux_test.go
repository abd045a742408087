package supervise

import (
	"crypto/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// beyond is added to made-up process numbers, so that no real process has them.
const beyond = 1 << 30

// made returns a child of this program that never existed.
func made(pid int, start uint64) *child {
	return &child{tree: tree{root: process{pid: pid, session: pid, start: start}, id: Identity{EnvMarker: rand.Text()}, seen: map[int]uint64{}}}
}

func registryOf(children ...*child) *registry {
	h := &registry{children: map[*child]struct{}{}}
	for _, c := range children {
		h.children[c] = struct{}{}
	}
	return h
}

func TestBelongs(t *testing.T) {
	older, younger, starting := made(beyond+1, 100), made(beyond+2, 200), made(0, 0)
	older.tree.seen[beyond+9] = 250
	orphan := func(pid, session int, start uint64) process {
		return process{pid: beyond + pid, session: session, start: start}
	}
	for name, c := range map[string]struct {
		e        process
		children []*child
		want     []*child
	}{
		"the child itself":         {younger.tree.root, []*child{older, younger}, []*child{younger}},
		"in a session":             {orphan(5, beyond+1, 250), []*child{older, younger}, []*child{older}},
		"seen before":              {orphan(9, beyond+9, 250), []*child{older, younger}, []*child{older}},
		"seen with another start":  {orphan(9, beyond+9, 251), []*child{older, younger}, nil},
		"from before the younger":  {orphan(5, beyond+5, 199), []*child{older, younger}, []*child{older}},
		"from when it was started": {orphan(5, beyond+5, 200), []*child{older, younger}, nil},
		"from before both":         {orphan(5, beyond+5, 99), []*child{older, younger}, []*child{older, younger}},
		"the last child":           {orphan(5, beyond+5, 250), []*child{older}, []*child{older}},
		"the last child, younger":  {orphan(5, beyond+5, 150), []*child{younger}, []*child{younger}},
		"beside a start":           {orphan(5, beyond+5, 99), []*child{older, starting}, []*child{starting}},
		"no session in sight":      {orphan(5, 0, 250), []*child{older, starting}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := registryOf(c.children...)
			for _, child := range c.children {
				if got, want := h.belongs(c.e, child), slices.Contains(c.want, child); got != want {
					t.Errorf("for the child of %d: %v, want %v", child.tree.root.start, got, want)
				}
			}
		})
	}
}

// TestBelongsToNoneElse tests that a child is never given a process that may be another
// one's, and that after the last child none is left.
func TestBelongsToNoneElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var children []*child
		for i, start := range rapid.SliceOfN(rapid.Uint64Range(1, 20), 1, 5).Draw(t, "starts") {
			children = append(children, made(beyond+100+i, start))
		}
		e := process{pid: beyond + 1, session: beyond + 1, start: rapid.Uint64Range(1, 20).Draw(t, "start")}
		real := rapid.SampledFrom(children).Draw(t, "whose")
		switch rapid.SampledFrom([]string{"session", "seen", "nothing"}).Draw(t, "tie") {
		case "session":
			e.session = real.tree.root.pid
		case "seen":
			real.tree.seen[e.pid] = e.start
		case "nothing":
			e.start = max(e.start, real.tree.root.start) // No process is older than its parent.
		}
		h := registryOf(children...)
		for _, c := range children {
			if c != real && h.belongs(e, c) {
				t.Errorf("%+v of %+v is ended with %+v", e, real.tree.root, c.tree.root)
			}
		}
		if !registryOf(real).belongs(e, real) {
			t.Errorf("%+v outlives the last child", e)
		}
	})
}

func TestSweepMembers(t *testing.T) {
	const self = beyond + 1
	id := Identity{PID: beyond + 10, Start: 100}
	at := func(pid, parent, session int, start uint64) process {
		return process{pid: beyond + pid, parent: beyond + parent, session: beyond + session, start: start}
	}
	root := at(10, 2, 10, 100)
	dead := root
	dead.dead = true
	for name, c := range map[string]struct {
		all  []process
		want []int
	}{
		"the child":                        {[]process{root}, []int{10}},
		"its session":                      {[]process{root, at(11, 2, 10, 120)}, []int{10, 11}},
		"its session, and it is dead":      {[]process{dead, at(11, 2, 10, 120)}, []int{10, 11}},
		"whoever descends":                 {[]process{root, at(11, 10, 11, 120), at(12, 11, 12, 121), at(13, 2, 12, 130)}, []int{10, 11, 12, 13}},
		"another start":                    {[]process{at(10, 2, 10, 101), at(11, 10, 10, 120)}, nil},
		"another start, and not of a head": {[]process{at(10, 2, 9, 100)}, nil},
		"the number as a session alone":    {[]process{at(11, 2, 10, 120)}, nil},
		"who was there before":             {[]process{root, at(11, 10, 10, 99)}, []int{10}},
		"this program below it":            {[]process{root, at(1, 10, 1, 120), at(12, 1, 12, 130)}, nil},
		"this program far below it":        {[]process{root, at(4, 10, 4, 110), at(1, 4, 1, 120), at(5, 10, 5, 130)}, nil},
		"our session":                      {[]process{root, at(12, 10, 3, 130)}, []int{10}},
	} {
		t.Run(name, func(t *testing.T) {
			h := orphanSweep{id: id, seen: map[int]uint64{}, sessions: map[int]bool{}}
			var got []int
			for _, e := range h.members(processTable{self: process{pid: self, session: beyond + 3, start: 50}, all: c.all}) {
				got = append(got, e.pid-beyond)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestGenuine(t *testing.T) {
	if mark := rand.Text(); !validMarker(mark) || validMarker(mark[1:]) || validMarker(mark+"A") || validMarker(mark[1:]+"a") || validMarker(mark[1:]+"=") {
		t.Errorf("of %q and what is like it", mark)
	}
}
