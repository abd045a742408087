package ledger_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// grow creates a closed ledger of task "t" with a number of events of 1 KiB and as many
// entries "past/…", and of other tasks with one event and one entry each. It is fast
// because it copies the first event without fixing hashes: no benchmark verifies.
func grow(b *testing.B, events, others int) string {
	b.Helper()
	dir := state(b)
	l := open(b, dir)
	if _, err := l.Append(b.Context(), "t", 0, clock(0), "note", fmt.Appendf(nil, `"%01024d"`, 0)); err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	numbers := func(from, to int) string {
		return fmt.Sprintf("WITH RECURSIVE i(v) AS (SELECT %d WHERE %[1]d <= %d UNION ALL SELECT v + 1 FROM i WHERE v < %[2]d) ", from, to)
	}
	edit(b, dir,
		numbers(2, events)+`INSERT INTO events SELECT v, task, v, at, kind, body, prev, hash FROM i, events WHERE seq = 1`,
		numbers(1, events)+`INSERT INTO entries SELECT 't', printf('past/%09d', v), printf('{"n":%d}', v) FROM i`,
		fmt.Sprintf(`UPDATE tasks SET n = %d`, events),
		numbers(1, others)+fmt.Sprintf(
			`INSERT INTO events SELECT %d + v, 'o' || v, 1, at, kind, body, prev, hash FROM i, events WHERE seq = 1`, events),
		numbers(1, others)+`INSERT INTO tasks SELECT 'o' || v, 1, head, state FROM i, tasks WHERE task = 't'`,
		numbers(1, others)+`INSERT INTO entries SELECT 'o' || v, 'past/000000001', '{"n":1}' FROM i`)
	return dir
}

// past returns the key of an entry that grow created.
func past(n int) string { return fmt.Sprintf("past/%09d", n) }

// BenchmarkScale shows that the cost is at most logarithmic in a task's history and in
// the number of other tasks. A round does what a command does: open, read the head and
// 20 entries, record an event that changes 25 entries all over the history, and close.
func BenchmarkScale(b *testing.B) {
	for _, size := range []struct{ events, others int }{
		{10, 0}, {1_000, 0}, {100_000, 0}, {10, 10}, {10, 10_000},
	} {
		dir := grow(b, size.events, size.others)
		var keys []string
		for i := range 20 {
			keys = append(keys, past(1+i*size.events/20))
		}
		n := int64(size.events)
		span := 2 * max(size.events, 25) // Half of the changed entries are new.
		touch := func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
			p := ledger.Projection{State: before.State}
			keys := make([]string, 25)
			for i := range keys {
				keys[i] = past(1 + (int(e.N)*7919+i*(span/25))%span)
				p.Entries = append(p.Entries, ledger.Entry{Key: keys[i], Value: e.Body})
			}
			_, err := before.Entries(keys)
			return p, err
		}
		bench := func(name string, run func() error) {
			b.Run(fmt.Sprintf("%s/events=%d/others=%d", name, size.events, size.others), func(b *testing.B) {
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		bench("round", func() error {
			l, err := ledger.Open(b.Context(), dir, touch)
			if err != nil {
				return err
			}
			defer l.Close()
			if _, err := l.Head(b.Context(), "t"); err != nil {
				return err
			}
			if _, err := l.Entries(b.Context(), "t", keys); err != nil {
				return err
			}
			add(b, l, "t", n)
			n++
			return l.Close()
		})
		l := openWith(b, dir, touch)
		bench("append", func() error { defer func() { n++ }(); add(b, l, "t", n); return nil })
		bench("head", func() error { _, err := l.Head(b.Context(), "t"); return err })
		bench("last", func() error { _, err := l.Last(b.Context()); return err })
		bench("event", func() error { _, err := l.Event(b.Context(), "t", n/2); return err })
		bench("entries", func() error { _, err := l.Entries(b.Context(), "t", keys); return err })
		bench("newest", func() error { _, err := l.LatestEntries(b.Context(), "t", "past/", 20); return err })
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeads reads the status of 10,000 tasks.
func BenchmarkHeads(b *testing.B) {
	l := open(b, grow(b, 10, 10_000))
	for b.Loop() {
		if heads := collect(b, l.Heads(b.Context())); len(heads) != 10_001 {
			b.Fatal(len(heads))
		}
	}
}

// BenchmarkAppendManyEntries appends one event that reads and changes 25,000 entries,
// as the largest reports do.
func BenchmarkAppendManyEntries(b *testing.B) {
	l := openWith(b, state(b), func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		p := ledger.Projection{State: []byte(`{}`)}
		keys := make([]string, 25_000)
		for i := range keys {
			keys[i] = fmt.Sprintf("past/%016x", uint64(i)*0x9e3779b97f4a7c15)
			p.Entries = append(p.Entries, ledger.Entry{Key: keys[i], Value: e.Body})
		}
		_, err := before.Entries(keys)
		return p, err
	})
	n := int64(0)
	for b.Loop() {
		add(b, l, "t", n)
		n++
	}
}

// round counts about as much as a decision does: 25 counters of a dozen measures, some
// of them capped, some of them added and removed, and two histograms.
func round(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
	capped := func(name string) counters.Dimension { return counters.Dimension{Name: name, Cap: 32} }
	free := func(name string) counters.Dimension { return counters.Dimension{Name: name} }
	one := func(name string, labels []counters.Dimension, values ...string) counters.Change {
		return counters.Change{Measure: counters.Measure{Name: name, Labels: labels}, Values: values, Add: 1}
	}
	action := []counters.Dimension{capped("next_action"), capped("policy_version")}
	standing := []counters.Dimension{free("status"), free("since"), free("task"), free("why")}
	counts := []counters.Change{
		one("rounds", action, "execute", "1.2.0"),
		one("verifications", []counters.Dimension{free("verify")}, "green"),
		one("daily_rounds", []counters.Dimension{free("day"), capped("next_action")}, e.At[:10], "execute"),
		one("standing", standing, "waiting", fmt.Sprint("since-", e.N), e.Task, "question"),
	}
	gone := one("standing", standing, "waiting", fmt.Sprint("since-", e.N-1), e.Task, "question")
	gone.Add = -1
	for i := range 8 {
		counts = append(counts, one("findings", []counters.Dimension{capped("category"), capped("severity"), capped("next_action")},
			fmt.Sprint("category-", (int(e.N)+i)%20), fmt.Sprint("severity-", i%4), "execute"))
	}
	for i := range 4 {
		counts = append(counts, one("progress", []counters.Dimension{free("progress")}, fmt.Sprint("progress-", i)))
	}
	for i := range 4 {
		d := counters.Distribution{
			Measure: counters.Measure{Name: "plugin_run", Labels: []counters.Dimension{capped("plugin")}},
			Scale:   counters.Scale{PerUnit: 1_000_000},
		}
		counts = append(counts, d.Observe(counters.Observation{Value: 1000 + e.N*7919%50_000, Task: e.Task, Round: 3}, fmt.Sprint("plugin-", i))...)
	}
	return ledger.Projection{State: []byte(`{}`), Changes: append(counts, gone)}, nil
}

// BenchmarkAppendCounts appends an event that changes 25 counters, and one that changes
// none, in ledgers of several sizes.
func BenchmarkAppendCounts(b *testing.B) {
	for _, size := range []struct{ events, others int }{{1_000, 0}, {100_000, 0}, {1_000, 100_000}} {
		dir := grow(b, size.events, 0)
		edit(b, dir, fmt.Sprintf(`WITH RECURSIVE i(v) AS (SELECT 1 WHERE 1 <= %d UNION ALL SELECT v + 1 FROM i WHERE v < %[1]d)
			INSERT INTO tallies SELECT 'standing', printf('["waiting","since-%%09d","t","why"]', v), 1, 1, '', NULL FROM i`, size.others))
		n := int64(size.events)
		for _, c := range []struct {
			name string
			fold ledger.Fold
		}{{"none", gives(`{}`)}, {"25", round}} {
			l := openWith(b, dir, c.fold)
			b.Run(fmt.Sprintf("counts=%s/events=%d/sums=%d", c.name, size.events, size.others), func(b *testing.B) {
				for b.Loop() {
					add(b, l, "t", n)
					n++
				}
			})
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkTallies runs the queries of a scrape in ledgers of several sizes.
func BenchmarkTallies(b *testing.B) {
	for _, events := range []int{1_000, 100_000} {
		l := openWith(b, grow(b, events, 0), round)
		for i := range int64(40) {
			add(b, l, "t", int64(events)+i)
		}
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			for b.Loop() {
				var queries []ledger.CounterQuery
				for _, measure := range []string{"rounds", "verifications", "findings", "progress", "plugin_run_cells", "plugin_run_sum", "label", "overflow"} {
					queries = append(queries, ledger.CounterQuery{Measure: measure})
				}
				if t, err := l.Counters(b.Context(), queries...); err != nil || len(t.Rows[0]) != 1 {
					b.Fatalf("%+v, %v", t, err)
				}
			}
		})
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefold measures how long the first command with this schema takes for a
// ledger of 10,000 events of an older one, while others wait.
func BenchmarkRefold(b *testing.B) {
	l := openWith(b, state(b), round)
	for i := range int64(10_000) {
		add(b, l, fmt.Sprint("t", i%100), i/100)
	}
	for b.Loop() {
		if err := l.Refold(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreate measures the first command of a project.
func BenchmarkCreate(b *testing.B) {
	root, i := b.TempDir(), 0
	for b.Loop() {
		i++
		l, err := ledger.Open(b.Context(), filepath.Join(root, fmt.Sprint(i)), digest)
		if err != nil {
			b.Fatal(err)
		}
		add(b, l, "t", 0)
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenAppendClose measures every later command: read, record, close.
func BenchmarkOpenAppendClose(b *testing.B) {
	dir := grow(b, 10, 0)
	n := int64(10)
	for b.Loop() {
		l, err := ledger.Open(b.Context(), dir, digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Head(b.Context(), "t"); err != nil {
			b.Fatal(err)
		}
		add(b, l, "t", n)
		n++
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenHeadClose measures a command that only reads.
func BenchmarkOpenHeadClose(b *testing.B) {
	dir := grow(b, 10, 0)
	for b.Loop() {
		l, err := ledger.Open(b.Context(), dir, digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Head(b.Context(), "t"); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend appends one event to an open ledger.
func BenchmarkAppend(b *testing.B) {
	l := open(b, state(b))
	n := int64(0)
	for b.Loop() {
		add(b, l, "t", n)
		n++
	}
}

// BenchmarkVerify verifies a ledger of 10,000 events.
func BenchmarkVerify(b *testing.B) {
	l := open(b, state(b))
	for i := range int64(10_000) {
		add(b, l, fmt.Sprint("t", i%100), i/100)
	}
	for b.Loop() {
		wantSound(b, l)
	}
}
