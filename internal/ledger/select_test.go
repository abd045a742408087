package ledger_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// TestSelect compares Select with a filter over every event.
func TestSelect(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	if got := collect(t, l.Select(t.Context(), ledger.Selection{Kind: "note", Through: 9})); len(got) != 0 {
		t.Fatalf("nothing has %d events", len(got))
	}
	after := map[string]int64{}
	for i, kind := range []string{"note", "remark", "note", "note", "remark", "note"} {
		task := string(rune('a' + i%2))
		// The clock goes back once.
		if _, err := l.Append(t.Context(), task, after[task], clock(int64(i%4)), kind, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		after[task]++
	}
	all := collect(t, l.EventsSince(t.Context(), 0))
	if len(all) != 6 {
		t.Fatalf("%d events, want 6", len(all))
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := ledger.Selection{
			Kind:    rapid.SampledFrom([]string{"note", "remark", "rema", "none"}).Draw(rt, "kind"),
			Through: rapid.Int64Range(-1, 7).Draw(rt, "through"),
		}
		if rapid.Bool().Draw(rt, "since") {
			s.Since = clock(rapid.Int64Range(-1, 4).Draw(rt, "at")).In(time.FixedZone("there", 3600))
		}
		if rapid.Bool().Draw(rt, "far") { // No event's year has five digits, or a sign.
			s.Since = time.Date(rapid.SampledFrom([]int{-1, 0, 10_000, 123_456}).Draw(rt, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		}
		var want []int64
		for _, e := range all {
			if e.Kind == s.Kind && e.Seq <= s.Through && !e.Time().Before(s.Since) {
				want = append(want, e.Seq)
			}
		}
		var got []int64
		for _, e := range collect(rt, l.Select(t.Context(), s)) {
			if e.Hash != e.Sum() {
				rt.Fatal("an event is not whole")
			}
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v selects %v, want %v", s, got, want)
		}
	})
}

// TestSelectOverlooksNoSpoiledTime tests that a query without times also returns events
// with an invalid time, for the caller to detect.
func TestSelectOverlooksNoSpoiledTime(t *testing.T) {
	dir := fill(t)
	edit(t, dir, `UPDATE events SET at = '' WHERE seq = 7`)
	if got := collect(t, open(t, dir).Select(t.Context(), ledger.Selection{Kind: "note", Through: 15})); len(got) != 15 {
		t.Errorf("%d events, want 15", len(got))
	}
}

// BenchmarkSelect selects every fourth of 100,000 events of 1 KiB.
func BenchmarkSelect(b *testing.B) {
	dir := grow(b, 100_000, 0)
	edit(b, dir, `UPDATE events SET kind = 'remark' WHERE seq % 4 = 0`)
	l := open(b, dir)
	for b.Loop() {
		n := 0
		for _, err := range l.Select(b.Context(), ledger.Selection{Kind: "remark", Through: 100_000}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 25_000 {
			b.Fatal(n)
		}
	}
}

// TestEventsOfKinds has events of several kinds and tasks.
func TestEventsOfKinds(t *testing.T) {
	l := open(t, state(t))
	after := map[string]int64{}
	for i, kind := range []string{"note", "remark", "note", "other", "remark", "note", "remark"} {
		task := string(rune('a' + i%2))
		if _, err := l.Append(t.Context(), task, after[task], clock(int64(i)), kind, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		after[task]++
	}
	var got []int64
	for _, e := range collect(t, l.Events(t.Context(), "a", 1, "note", "remark")) {
		got = append(got, e.Seq)
	}
	if want := []int64{1, 3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("the events %v, want %v", got, want)
	}
	if got := collect(t, l.Events(t.Context(), "a", 2, "note")); len(got) != 1 || got[0].Seq != 3 {
		t.Errorf("the notes from the second event on are %v", got)
	}
	if got := collect(t, l.Events(t.Context(), "c", 1, "note", "remark")); len(got) != 0 {
		t.Errorf("an unknown task has %v", got)
	}
}
