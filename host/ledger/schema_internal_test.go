package ledger

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// withNext returns the released versions and one more, which adds a column.
func withNext(up ...string) []version {
	const tasks = `CREATE TABLE tasks (
  task  TEXT NOT NULL PRIMARY KEY,
  n     INTEGER NOT NULL,
  head  TEXT NOT NULL,
  state TEXT NOT NULL
, label TEXT NOT NULL DEFAULT 'none') STRICT, WITHOUT ROWID`
	objects := append([]object{}, released()[0].objects...)
	objects[slices.IndexFunc(objects, func(o object) bool { return o.kind == "table" && o.name == "tasks" })].text = tasks
	return append(released(), version{up: up, objects: objects})
}

const addLabel = `ALTER TABLE tasks ADD COLUMN label TEXT NOT NULL DEFAULT 'none'`

func keep(_ View, e Event) (Projection, error) {
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
		count, err := number(t.Context(), tx, "SELECT count(*) FROM tasks WHERE label = 'none'")
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
	if fault.CodeOf(err) != CodeNewer {
		t.Errorf("the older program's Append gives %v", err)
	}
	if _, err := Open(t.Context(), dir, keep); fault.CodeOf(err) != CodeNewer {
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
			if _, err := open(t.Context(), dir, keep, withNext(up...), busyTime); fault.CodeOf(err) != CodeCorrupt {
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
