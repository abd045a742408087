package ledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// refuses fails unless opening fails or, if there was nothing to open, appending fails,
// both with the same error.
func refuses(t *testing.T, dir string, code errs.Code) *errs.Error {
	t.Helper()
	l, err := ledger.Open(t.Context(), dir, digest)
	if err == nil {
		defer l.Close()
		_, err = l.Append(t.Context(), "a", 0, clock(0), "note", []byte(`{}`))
	}
	return wantCode(t, err, code)
}

func TestLinksAndOddFilesAreRefused(t *testing.T) {
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "y")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	sound := fill(t)
	soundFile := filepath.Join(sound, "ledger.db")
	inDir := func(make func(dir string) error) func(string) error {
		return func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), make(dir)) }
	}
	for name, prepare := range map[string]func(dir string) error{
		"directory is a link":          func(dir string) error { return os.Symlink(sound, dir) },
		"directory is a dangling link": func(dir string) error { return os.Symlink("nowhere", dir) },
		"directory is a file":          func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"database is a link": inDir(func(dir string) error {
			return os.Symlink(soundFile, filepath.Join(dir, "ledger.db"))
		}),
		"database is a dangling link": inDir(func(dir string) error {
			return os.Symlink("nowhere", filepath.Join(dir, "ledger.db"))
		}),
		"database is a directory": inDir(func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "ledger.db"), 0o700)
		}),
		"log is a link": inDir(func(dir string) error {
			return errors.Join(os.Link(soundFile, filepath.Join(dir, "ledger.db")),
				os.Symlink("nowhere", filepath.Join(dir, "ledger.db-wal")))
		}),
		"log's index is a directory": inDir(func(dir string) error {
			return errors.Join(os.Link(soundFile, filepath.Join(dir, "ledger.db")),
				os.Mkdir(filepath.Join(dir, "ledger.db-shm"), 0o700))
		}),
		"rollback journal": inDir(func(dir string) error {
			return errors.Join(os.Link(soundFile, filepath.Join(dir, "ledger.db")),
				os.WriteFile(filepath.Join(dir, "ledger.db-journal"), []byte("x"), 0o600))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			if e := refuses(t, dir, errs.StateUnsafe); e.Details["path"] == nil {
				t.Error("the path is missing from the details")
			}
			if exists(filepath.Join(filepath.Dir(dir), "nowhere")) || exists(filepath.Join(dir, "nowhere")) {
				t.Error("a link was followed")
			}
		})
	}
	wantSound(t, open(t, sound))
}

func TestUnwritablePlaces(t *testing.T) {
	t.Run("parent is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refuses(t, filepath.Join(file, ".switchyard"), errs.StateUnwritable)
	})
	t.Run("parent is missing", func(t *testing.T) {
		refuses(t, filepath.Join(t.TempDir(), "none", ".switchyard"), errs.StateUnwritable)
	})
	for name, prepare := range map[string]func(t *testing.T) (dir, locked string){
		"parent is read-only": func(t *testing.T) (string, string) {
			dir := state(t)
			return dir, filepath.Dir(dir)
		},
		"directory is read-only": func(t *testing.T) (string, string) {
			dir := state(t)
			return dir, dir
		},
		"ledger in a read-only directory": func(t *testing.T) (string, string) {
			dir := fill(t)
			return dir, dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() == 0 {
				t.Skip("root may write into read-only directories")
			}
			dir, locked := prepare(t)
			if err := os.MkdirAll(locked, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(locked, 0o500); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(locked, 0o700)
			refuses(t, dir, errs.StateUnwritable)
		})
	}
}

func TestForeignDatabasesAreRefused(t *testing.T) {
	for name, statement := range map[string]string{
		"trigger":                   `CREATE TRIGGER x AFTER INSERT ON events BEGIN DELETE FROM events; END`,
		"view":                      `CREATE VIEW x AS SELECT * FROM events`,
		"table":                     `CREATE TABLE x (a)`,
		"index":                     `CREATE INDEX x ON events (kind)`,
		"statistics":                `ANALYZE`,
		"column":                    `ALTER TABLE tasks ADD COLUMN x TEXT`,
		"generated column":          `ALTER TABLE tasks ADD COLUMN x TEXT AS (upper(task))`,
		"table gone":                `DROP TABLE tasks`,
		"entries gone":              `DROP TABLE entries`,
		"tables gone":               `DROP TABLE tasks; DROP TABLE events; DROP TABLE entries`,
		"table renamed":             `ALTER TABLE tasks RENAME TO jobs`,
		"other application":         `PRAGMA application_id = 1`,
		"no application":            `PRAGMA application_id = 0`,
		"version 0":                 `PRAGMA user_version = 0`,
		"negative version":          `PRAGMA user_version = -1`,
		"rollback journal and more": `PRAGMA journal_mode = DELETE; CREATE TABLE x (a)`,
		"entries of another form": `DROP TABLE entries;
			CREATE TABLE entries (task TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (task, key)) STRICT`,
		"table replaced by a view": `ALTER TABLE tasks RENAME TO jobs;
			CREATE VIEW tasks AS SELECT task, n, head, state FROM jobs`,
		"schema without meaning": `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE events (x)' WHERE name = 'events'`,
		"schema that is no SQL":  `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'events'`,
		"virtual table": `PRAGMA writable_schema = ON;
			INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE VIRTUAL TABLE x USING fts5(a)')`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := fill(t)
			edit(t, dir, statement)
			refuses(t, dir, errs.LedgerCorrupt)
		})
	}
}

// TestALedgerWithoutALogGetsOne opens a valid copy without a log, as VACUUM INTO makes
// it. A reader leaves it unchanged.
func TestALedgerWithoutALogGetsOne(t *testing.T) {
	dir := fill(t)
	edit(t, dir, `PRAGMA journal_mode = DELETE`)
	path := filepath.Join(dir, "ledger.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reader := outside(t, path)
	count := len(collect(t, reader.EventsSince(t.Context(), 0)))
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) || count == 0 {
		t.Errorf("a reader of %d events changed the file, or %v", count, err)
	}
	l := open(t, dir)
	add(t, l, "new", 0)
	wantSound(t, l)
	if again := len(collect(t, reader.EventsSince(t.Context(), 0))); again != count+1 {
		t.Errorf("the reader has %d events of %d", again, count+1)
	}
}

func TestFilesThatAreNoLedger(t *testing.T) {
	for name, content := range map[string]string{
		"empty":  "",
		"text":   "this is not a database, whatever its name says, and it is long enough to be looked at in full by anybody who cares",
		"header": "SQLite format 3\x00",
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			if err := errors.Join(os.Mkdir(dir, 0o700),
				os.WriteFile(filepath.Join(dir, "ledger.db"), []byte(content), 0o600)); err != nil {
				t.Fatal(err)
			}
			refuses(t, dir, errs.LedgerCorrupt)
			if got, err := os.ReadFile(filepath.Join(dir, "ledger.db")); err != nil || string(got) != content {
				t.Errorf("the file became %q, %v", got, err)
			}
		})
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := fill(t)
	connected := open(t, dir)
	if _, err := connected.Head(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, `PRAGMA user_version = 7`, `CREATE TABLE later (a)`)
	e := refuses(t, dir, errs.LedgerNewer)
	if e.Details["found"] != int64(7) || e.Details["supported"] != int64(5) {
		t.Errorf("details are %v", e.Details)
	}
	_, err := connected.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
	wantCode(t, err, errs.LedgerNewer)
}

// use calls every method on a ledger that may be damaged and returns the first error.
// It must not panic.
func use(ctx context.Context, dir string) error {
	l, err := ledger.Open(ctx, dir, digest)
	if err != nil {
		return err
	}
	_, headErr := l.Head(ctx, "b")
	errs := []error{headErr}
	for _, err := range l.Heads(ctx) {
		errs = append(errs, err)
	}
	for _, err := range l.Events(ctx, "b", 1) {
		errs = append(errs, err)
	}
	_, eventErr := l.Event(ctx, "b", 3)
	_, entriesErr := l.Entries(ctx, "b", []string{"chain", "none"})
	_, newestErr := l.LatestEntries(ctx, "b", "recent/", 2)
	_, lastErr := l.Last(ctx)
	_, talliesErr := l.Counters(ctx, ledger.CounterQuery{Measure: "events"}, ledger.CounterQuery{Measure: ledger.LabelMeasure, Descending: true})
	errs = append(errs, eventErr, entriesErr, newestErr, lastErr, talliesErr, l.WithLock(ctx, "b", func(ledger.Head) error { return nil }))
	_, err = l.Verify(ctx)
	errs = append(errs, err)
	if _, err = insist(ctx, l, "b"); !errors.Is(err, errRefused) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, l.Close())...)
}

// wantHarmless fails unless err is nil or an error that a damaged file may cause. Its
// header may even say that it is read-only.
func wantHarmless(t *testing.T, err error) {
	t.Helper()
	switch code := errs.CodeOf(err); {
	case err == nil, code == errs.LedgerCorrupt, code == errs.LedgerIO, code == errs.LedgerConflict, code == errs.LedgerNewer,
		code == errs.StateUnwritable:
	default:
		t.Errorf("code %q: %v", code, err)
	}
}

func TestTruncatedFiles(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(fill(t), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for size := 0; size < len(whole); size += 512 {
		dir := state(t)
		if err := errors.Join(os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "ledger.db"), whole[:size], 0o600)); err != nil {
			t.Fatal(err)
		}
		err := use(t.Context(), dir)
		wantHarmless(t, err)
		if err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no truncation was noticed")
	}
	t.Logf("%d of %d truncations refused", refused, len(whole)/512)
}

func TestTruncatedLogs(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	for i := range int64(8) {
		add(t, l, "b", i)
	}
	base, err1 := os.ReadFile(filepath.Join(dir, "ledger.db"))
	wal, err2 := os.ReadFile(filepath.Join(dir, "ledger.db-wal"))
	if err := errors.Join(err1, err2); err != nil || len(wal) == 0 {
		t.Fatalf("%v, a log of %d bytes", err, len(wal))
	}
	for size := 0; size <= len(wal); size += 512 {
		dir := state(t)
		if err := errors.Join(os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "ledger.db"), base, 0o600),
			os.WriteFile(filepath.Join(dir, "ledger.db-wal"), wal[:size], 0o600)); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir)
		wantSound(t, l) // A cut log loses whole transactions, never a part of one.
	}
}

func TestDamagedBytes(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(fill(t), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	stride := exhaustive.Count(997, 97)
	for at := 0; at < len(whole); at++ {
		if at >= 100 && at%stride != 0 { // The first 100 bytes are the file's header.
			continue
		}
		damaged := append([]byte{}, whole...)
		damaged[at] ^= 0xa5
		dir := state(t)
		if err := errors.Join(os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "ledger.db"), damaged, 0o600)); err != nil {
			t.Fatal(err)
		}
		wantHarmless(t, use(t.Context(), dir))
	}
}

// lock holds the database's write lock until the test ends.
func lock(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(); db.Close() })
}

func TestLockedLedger(t *testing.T) {
	dir := fill(t)
	l, err := ledger.OpenImpatient(t.Context(), dir, digest, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lock(t, dir)
	_, err = l.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
	wantCode(t, err, errs.LedgerBusy)

	patient := open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = patient.Append(ctx, "a", 5, clock(5), "note", []byte(`{}`))
	if !errors.Is(err, context.DeadlineExceeded) || errs.CodeOf(err) != "" {
		t.Errorf("Append with an impatient context gives %v", err)
	}
	if head, err := patient.Head(t.Context(), "a"); err != nil || head.N != 5 {
		t.Errorf("reading a locked ledger gives %+v, %v", head, err)
	}
}

func TestFullDisk(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	if err := l.Exec(t.Context(), "PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	body := fmt.Appendf(nil, `"%0100000d"`, 0)
	_, err := l.Append(t.Context(), "a", 5, clock(5), "note", body)
	wantCode(t, err, errs.LedgerIO)
	if report := wantSound(t, l); report.Events != 15 {
		t.Errorf("the report is %+v", report)
	}
}
