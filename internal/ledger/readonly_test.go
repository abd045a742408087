package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// outside opens a database for reading.
func outside(t *testing.T, path string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestALedgerOutsideIsOnlyRead tests that a database of any name is opened read-only.
func TestALedgerOutsideIsOnlyRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a copy?.db")
	before, err := os.ReadFile(filepath.Join(fill(t), "ledger.db"))
	if err == nil {
		err = os.WriteFile(path, before, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := outside(t, path)
	if got := collect(t, l.EventsSince(t.Context(), 0)); len(got) != 15 {
		t.Errorf("%d events, want 15", len(got))
	}
	if report := wantSound(t, l); report.Events != 15 {
		t.Errorf("%d events are sound, want 15", report.Events)
	}
	_, err = l.Append(t.Context(), "a", 5, clock(9), "note", []byte(`{}`))
	wantCode(t, err, errs.LedgerInvalid)
	if err := l.Exec(t.Context(), `DELETE FROM events`); err == nil {
		t.Error("it can be written to")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("reading changed the database")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("reading leaves %v behind", entries)
	}
}

// TestALedgerOutsideMayBeInUse tests that its project can write to it meanwhile.
func TestALedgerOutsideMayBeInUse(t *testing.T) {
	dir := state(t)
	own := open(t, dir)
	add(t, own, "a", 0)
	l := outside(t, filepath.Join(dir, "ledger.db"))
	add(t, own, "a", 1)
	if got := collect(t, l.EventsSince(t.Context(), 0)); len(got) != 2 {
		t.Errorf("%d events, want 2", len(got))
	}
	add(t, own, "a", 2)
	if last, err := l.Last(t.Context()); err != nil || last != 3 {
		t.Errorf("the last event is %d, %v", last, err)
	}
}

func TestFilesOutsideThatAreNoLedger(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("text "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(fill(t), "ledger.db")
	edit(t, filepath.Dir(foreign), `CREATE TABLE extra (a)`)
	newer := filepath.Join(fill(t), "ledger.db")
	edit(t, filepath.Dir(newer), `PRAGMA user_version = 99`)
	journal := filepath.Join(fill(t), "ledger.db")
	if err := os.WriteFile(journal+"-journal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(fill(t), "ledger.db")
	if err := errors.Join(os.Remove(log+"-wal"), os.Mkdir(log+"-wal", 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		code errs.Code
	}{
		"nothing":                 {filepath.Join(dir, "nothing"), errs.StateUnwritable},
		"a directory":             {dir, errs.StateUnsafe},
		"a text":                  {text, errs.LedgerCorrupt},
		"a foreign database":      {foreign, errs.LedgerCorrupt},
		"a newer one":             {newer, errs.LedgerNewer},
		"a rollback journal":      {journal, errs.StateUnsafe},
		"a directory for the log": {log, errs.StateUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ledger.OpenFile(t.Context(), c.path)
			if err == nil {
				l.Close()
				t.Fatal("it opens")
			}
			wantCode(t, err, c.code)
		})
	}
}
