package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// withNext returns the released versions and one more, which adds a column.
func withNext(up ...string) []version {
	const tasks = `CREATE TABLE tasks (
  task  TEXT NOT NULL PRIMARY KEY,
  n     INTEGER NOT NULL,
  head  TEXT NOT NULL,
  state TEXT NOT NULL
, label TEXT NOT NULL DEFAULT 'none') STRICT, WITHOUT ROWID`
	objects := append([]object{}, released()[len(released())-1].objects...)
	objects[slices.IndexFunc(objects, func(o object) bool { return o.kind == "table" && o.name == "tasks" })].text = tasks
	return append(released(), version{up: up, objects: objects})
}

const addLabel = `ALTER TABLE tasks ADD COLUMN label TEXT NOT NULL DEFAULT 'none'`

func keep(_ *View, e Event) (Projection, error) {
	return Projection{State: e.Body, Entries: []Entry{{Key: "body", Value: e.Body}}}, nil
}

// makeOld returns a directory with a ledger of the first version.
func makeOld(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".switchyard")
	l, err := open(t.Context(), dir, keep, released()[:1], busyTime)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), "a", 0, time.Unix(0, 0), "note", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func labels(t *testing.T, l *Ledger) (n int) {
	t.Helper()
	err := l.read(t.Context(), func(tx *sql.Tx) error {
		count, err := queryInt(t.Context(), tx, "SELECT count(*) FROM tasks WHERE label = 'none'")
		n = int(count)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMigrationKeepsWhatIsRecorded(t *testing.T) {
	dir := makeOld(t)
	old, err := open(t.Context(), dir, keep, released(), busyTime)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for range 2 { // migrating, and finding it migrated
		l, err := open(t.Context(), dir, keep, withNext(addLabel), busyTime)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if labels(t, l) != 1 {
			t.Error("the new column is not there")
		}
		report, err := l.Verify(t.Context())
		if err != nil || !report.Sound() || report.Events != 1 {
			t.Errorf("Verify gives %+v, %v", report, err)
		}
	}
	_, err = old.Append(t.Context(), "a", 1, time.Unix(0, 0), "note", []byte(`{}`))
	if errs.CodeOf(err) != errs.LedgerNewer {
		t.Errorf("the older program's Append gives %v", err)
	}
	if _, err := Open(t.Context(), dir, keep); errs.CodeOf(err) != errs.LedgerNewer {
		t.Errorf("the older program's Open gives %v", err)
	}
}

func TestCreationTakesEveryStep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".switchyard")
	l, err := open(t.Context(), dir, keep, withNext(addLabel), busyTime)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), "a", 0, time.Unix(0, 0), "note", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if labels(t, l) != 1 {
		t.Error("the second step was left out")
	}
}

func TestConcurrentMigrationsHappenOnce(t *testing.T) {
	dir := makeOld(t)
	done := make(chan error)
	for range 8 {
		go func() {
			l, err := open(context.Background(), dir, keep, withNext(addLabel), busyTime)
			if err == nil {
				err = l.Close()
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	for name, up := range map[string][]string{
		"a step fails":          {addLabel, `INSERT INTO tasks (task) VALUES ('half')`},
		"the result is another": {addLabel, `CREATE TABLE extra (a) STRICT`},
		"a step is left out":    {},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeOld(t)
			if _, err := open(t.Context(), dir, keep, withNext(up...), busyTime); errs.CodeOf(err) != errs.LedgerCorrupt {
				t.Fatalf("the migration gives %v", err)
			}
			l, err := Open(t.Context(), dir, keep)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			report, err := l.Verify(t.Context())
			if err != nil || !report.Sound() || report.Events != 1 {
				t.Errorf("Verify gives %+v, %v", report, err)
			}
		})
	}
}

func TestConnectionsAreSafe(t *testing.T) {
	l, err := Open(t.Context(), makeOld(t), keep)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for query, want := range map[string]string{
		"PRAGMA synchronous":     "2",
		"PRAGMA journal_mode":    "wal",
		"PRAGMA trusted_schema":  "0",
		"PRAGMA cell_size_check": "1",
		"PRAGMA busy_timeout":    waitSlice,
	} {
		var got string
		if err := l.db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", query, got, want, err)
		}
	}
}

// twice counts every event under its task; only one label value is separate.
func twice(before *View, e Event) (Projection, error) {
	p, err := keep(before, e)
	p.Changes = []counters.Change{
		{Measure: counters.Measure{Name: "all"}, Add: 1},
		{Measure: counters.Measure{Name: "by_task", Labels: []counters.Dimension{{Name: "task", Cap: 1}}}, Values: []string{e.Task}, Add: 1, Exemplar: e.Body},
	}
	return p, err
}

// makeUncounted returns a directory with a ledger of the first version: interleaved
// events of tasks b and a.
func makeUncounted(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".switchyard")
	l, err := open(t.Context(), dir, keep, released()[:1], busyTime)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range int64(6) {
		task := []string{"b", "a"}[i%2]
		if _, err := l.Append(t.Context(), task, i/2, time.Unix(i, 0), "note", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func versionOf(t *testing.T, l *Ledger) (at int64) {
	t.Helper()
	err := l.read(t.Context(), func(tx *sql.Tx) (err error) {
		at, err = queryInt(t.Context(), tx, "PRAGMA user_version")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func openAs(t *testing.T, dir string, fold Fold) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), dir, fold)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAnOlderLedgerIsCounted(t *testing.T) {
	dir := makeUncounted(t)
	l := openAs(t, dir, twice)
	got, err := l.Counters(t.Context(), CounterQuery{Measure: "all"}, CounterQuery{Measure: "by_task"}, CounterQuery{Measure: LabelMeasure},
		CounterQuery{Measure: OverflowMeasure})
	at := func(i int64) string { return time.Unix(i, 0).UTC().Format(TimeFormat) }
	want := Counters{Events: 6, Since: at(0), Until: at(5), Rows: [][]Counter{
		{{Values: []string{}, Sum: 6, Seq: 6, At: at(5)}},
		// b came first, although a is folded before it.
		{{Values: []string{"b"}, Sum: 3, Seq: 5, At: at(4), Exemplar: []byte("4")}, {Values: []string{"other"}, Sum: 3, Seq: 6, At: at(5), Exemplar: []byte("5")}},
		{{Values: []string{"task", "b"}, Sum: 1, Seq: 1, At: at(0)}},
		{{Values: []string{"task"}, Sum: 3, Seq: 6, At: at(5)}},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Counters gives %+v, %v, want %+v", got, err, want)
	}
	if report, err := l.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("Verify gives %+v, %v", report, err)
	}
}

// TestSumsAreCountedAnew tests a later version that counts events differently, without
// a new table.
func TestSumsAreCountedAnew(t *testing.T) {
	dir := makeUncounted(t)
	if err := openAs(t, dir, twice).Close(); err != nil {
		t.Fatal(err)
	}
	last := released()[len(released())-1]
	l, err := open(t.Context(), dir, func(before *View, e Event) (Projection, error) {
		p, err := twice(before, e)
		p.Changes = p.Changes[:1]
		p.Changes[0].Add = 10
		return p, err
	}, append(released(), version{objects: last.objects, rebuild: true}), busyTime)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := l.Counters(t.Context(), CounterQuery{Measure: "all"}, CounterQuery{Measure: "by_task"}, CounterQuery{Measure: LabelMeasure})
	if err != nil || len(got.Rows[0]) != 1 || got.Rows[0][0].Sum != 60 || len(got.Rows[1])+len(got.Rows[2]) != 0 {
		t.Errorf("Counters gives %+v, %v", got, err)
	}
}

// TestAnOlderLedgerIsRead tests that a reader can read an older ledger and leaves it
// unchanged.
func TestAnOlderLedgerIsRead(t *testing.T) {
	dir := makeUncounted(t)
	file, err := OpenFile(t.Context(), filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, l := range map[string]*Ledger{"OpenFile": file, "without a fold": openAs(t, dir, nil)} {
		if _, err := l.Counters(t.Context(), CounterQuery{Measure: "all"}); !errors.Is(err, ErrUncounted) {
			t.Errorf("%s: Counters gives %v", name, err)
		}
		if report, err := l.Verify(t.Context()); err != nil || !report.Sound() || report.Events != 6 {
			t.Errorf("%s: Verify gives %+v, %v", name, report, err)
		}
		if head, err := l.Head(t.Context(), "b"); err != nil || head.N != 3 {
			t.Errorf("%s: Head gives %+v, %v", name, head, err)
		}
		if last, err := l.Last(t.Context()); err != nil || last != 6 {
			t.Errorf("%s: Last gives %d, %v", name, last, err)
		}
		events := 0
		for _, err := range l.EventsSince(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			events++
		}
		if entries, err := l.Entries(t.Context(), "b", []string{"body"}); err != nil || len(entries) != 1 || events != 6 {
			t.Errorf("%s: %d events, entries %v, %v", name, events, entries, err)
		}
		if at := versionOf(t, l); at != 1 {
			t.Errorf("%s: the schema became version %d", name, at)
		}
	}
	// Other processes see the counters as soon as one has counted.
	if err := openAs(t, dir, twice).Close(); err != nil {
		t.Fatal(err)
	}
	if sums, err := file.Counters(t.Context(), CounterQuery{Measure: "all"}); err != nil || sums.Rows[0][0].Sum != 6 {
		t.Errorf("Counters gives %+v, %v", sums, err)
	}
}

// third is twice, with another result for the second event of task b.
func third(f func() (Projection, error)) Fold {
	return func(before *View, e Event) (Projection, error) {
		if e.Task == "b" && e.N == 2 {
			return f()
		}
		return twice(before, e)
	}
}

// TestABrokenTaskIsCountedSoFar tests that an event which is rejected or invalid does
// not block the rest of the ledger, and that Verify finds it.
func TestABrokenTaskIsCountedSoFar(t *testing.T) {
	for name, c := range map[string]struct {
		fold Fold
		edit string
		find ProblemKind
	}{
		"refused":           {third(func() (Projection, error) { return Projection{}, errors.New("no such event") }), "", ProblemFold},
		"against the rules": {third(func() (Projection, error) { return Projection{State: []byte(`{`)}, nil }), "", ProblemFold},
		"of another form":   {twice, `UPDATE events SET kind = 'No kind' WHERE task = 'b' AND n = 2`, ProblemForm},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeUncounted(t)
			older, err := open(t.Context(), dir, keep, released()[:1], busyTime)
			if err != nil {
				t.Fatal(err)
			}
			if err := older.Exec(t.Context(), c.edit); err != nil {
				t.Fatal(err)
			}
			older.Close()
			l := openAs(t, dir, c.fold)
			if sums, err := l.Counters(t.Context(), CounterQuery{Measure: "all"}); err != nil || sums.Rows[0][0].Sum != 4 {
				t.Errorf("Counters gives %+v, %v", sums, err)
			}
			if head, err := l.Head(t.Context(), "b"); err != nil || head.N != 3 {
				t.Errorf("Head gives %+v, %v", head, err)
			}
			report, err := l.Verify(t.Context())
			if err != nil || !slices.ContainsFunc(report.Problems, func(p Problem) bool { return p.Task == "b" && p.N == 2 && p.Kind == c.find }) {
				t.Errorf("Verify gives %+v, %v", report, err)
			}
		})
	}
}

// TestEntriesAreFoldedAnew tests that a migration replaces the entries of an older
// program.
func TestEntriesAreFoldedAnew(t *testing.T) {
	dir := makeUncounted(t)
	l := openAs(t, dir, func(before *View, e Event) (Projection, error) {
		known, err := before.Entry("newest")
		if err != nil || (known == nil) != (e.N == 1) {
			return Projection{}, fmt.Errorf("event %d finds %s, %w", e.N, known, err)
		}
		return Projection{State: e.Body, Entries: []Entry{{Key: "newest", Value: e.Body}}}, nil
	})
	for task, want := range map[string]string{"a": "5", "b": "4"} {
		entries, err := l.Entries(t.Context(), task, []string{"body", "newest"})
		if err != nil || len(entries) != 1 || string(entries["newest"]) != want {
			t.Errorf("task %s has %s, %v", task, entries, err)
		}
	}
	if _, err := l.Append(t.Context(), "a", 3, time.Unix(9, 0), "note", []byte(`9`)); err != nil {
		t.Error(err)
	}
	if report, err := l.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("Verify gives %+v, %v", report, err)
	}
}

// TestTheEndOfTimeoutLeavesALedgerOlder tests that a migration that times out leaves
// the old ledger intact.
func TestTheEndOfTimeoutLeavesALedgerOlder(t *testing.T) {
	dir, why := makeUncounted(t), errors.New("no patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Open(ctx, dir, third(func() (Projection, error) { cancel(why); return Projection{}, ctx.Err() }))
	if !errors.Is(err, why) {
		t.Errorf("Open gives %v", err)
	}
	older := openAs(t, dir, nil)
	if at := versionOf(t, older); at != 1 {
		t.Errorf("the schema became version %d", at)
	}
	older.Close()
	if sums, err := openAs(t, dir, twice).Counters(t.Context(), CounterQuery{Measure: "all"}); err != nil || sums.Rows[0][0].Sum != 6 {
		t.Errorf("counted later, Counters gives %+v, %v", sums, err)
	}
}
