package ledger_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

func compacted(t *testing.T, l *ledger.Ledger) ledger.Compaction {
	t.Helper()
	c, err := l.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// alone returns a state directory with a copy of a ledger.db, without its log.
func alone(t *testing.T, dir string) string {
	t.Helper()
	to := state(t)
	data, err := os.ReadFile(filepath.Join(dir, "ledger.db"))
	if err := errors.Join(err, os.Mkdir(to, 0o700), os.WriteFile(filepath.Join(to, "ledger.db"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return to
}

func hashes(t *testing.T, l *ledger.Ledger) (all []string) {
	t.Helper()
	for _, e := range collect(t, l.EventsSince(t.Context(), 0)) {
		all = append(all, e.Hash)
	}
	return all
}

// TestCopyWithoutItsLog tests that such a copy is sound, so that only a hash from elsewhere
// shows what it lacks, and that it lacks nothing after Compact.
func TestCopyWithoutItsLog(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	last := add(t, l, "a", 5)
	all := hashes(t, l)
	for range 2 { // also of a closed ledger
		lacking := open(t, alone(t, dir))
		wantSound(t, lacking)
		if got := hashes(t, lacking); !slices.Equal(got, all[:15]) || slices.Contains(got, last.Hash) {
			t.Errorf("the copy has %d events", len(got))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir)
	if c := compacted(t, l); c.Before.Log == 0 || c.After.Log != 0 || c.After.Database < c.Before.Database {
		t.Errorf("the sizes are %+v", c)
	}
	whole := open(t, alone(t, dir))
	wantSound(t, whole)
	if got := hashes(t, whole); !slices.Equal(got, all) {
		t.Errorf("after Compact, a copy has %d events of %d", len(got), len(all))
	}
}

// TestLogWithoutItsDatabase tests that a log is neither used for a new ledger nor lost.
func TestLogWithoutItsDatabase(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	add(t, l, "a", 5)
	if err := errors.Join(l.Close(), os.Rename(filepath.Join(dir, "ledger.db"), filepath.Join(dir, "away"))); err != nil {
		t.Fatal(err)
	}
	_, err := ledger.Open(t.Context(), dir, digest)
	wantCode(t, err, errs.LedgerCorrupt)
	if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "ledger.db")); err != nil {
		t.Fatal(err)
	}
	if report := wantSound(t, open(t, dir)); report.Events != 16 {
		t.Errorf("%d events", report.Events)
	}
}

func TestCompactGivesBackFreeSpace(t *testing.T) {
	dir := fill(t)
	edit(t, dir, `CREATE TABLE large (a)`, `INSERT INTO large VALUES (zeroblob(1000000))`, `DROP TABLE large`)
	l := open(t, dir)
	add(t, l, "a", 5)
	if c := compacted(t, l); c.Before.Database < 1_000_000 || c.After.Database > 200_000 {
		t.Errorf("the sizes are %+v", c)
	}
	add(t, l, "a", 6)
	if report := wantSound(t, l); report.Events != 17 {
		t.Errorf("%d events", report.Events)
	}
}

func TestCompactWithoutALedger(t *testing.T) {
	dir := state(t)
	if c := compacted(t, open(t, dir)); c != (ledger.Compaction{}) || exists(dir) {
		t.Errorf("the sizes are %+v", c)
	}
}

func TestCompactDuringARead(t *testing.T) {
	dir := fill(t)
	l, err := ledger.OpenImpatient(t.Context(), dir, digest, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reader, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tx, err := reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var events int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&events); err != nil || events != 15 {
		t.Fatal(events, err)
	}
	add(t, l, "a", 5)
	_, err = l.Compact(t.Context())
	wantCode(t, err, errs.LedgerBusy)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	compacted(t, l)
	if report := wantSound(t, l); report.Events != 16 {
		t.Errorf("%d events", report.Events)
	}
}

// TestTheLogDoesNotGrow tests that appends write a log that has grown into the database,
// and do not wait if a reader prevents it.
func TestTheLogDoesNotGrow(t *testing.T) {
	dir := fill(t)
	reader := func() (end func()) {
		db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var events int
		if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&events); err != nil {
			t.Fatal(err)
		}
		return func() { _ = errors.Join(tx.Rollback(), db.Close()) }
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "ledger.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	n := int64(5)
	appendLarge := func() {
		l := open(t, dir)
		if _, err := l.Append(t.Context(), "a", n, clock(n), "note", fmt.Appendf(nil, `"%0300000d"`, n)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		n++
	}
	end := reader()
	for size() < 3<<20 {
		appendLarge()
	}
	end()
	for range 10 {
		appendLarge()
		if got := size(); got > 2<<20 {
			t.Errorf("the log has %d bytes", got)
		}
	}
	if report := wantSound(t, open(t, dir)); report.Events != 10+n {
		t.Errorf("%d events", report.Events)
	}
}
