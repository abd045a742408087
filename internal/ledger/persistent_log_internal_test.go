package ledger

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// TestAnInterruptedAppendKeepsCommitsDurable interrupts the preparation of a log. Later commits
// of the connection must wait for the disk nevertheless.
func TestAnInterruptedAppendKeepsCommitsDurable(t *testing.T) {
	fold := func(*View, Event) (Projection, error) { return Projection{State: []byte(`{}`)}, nil }
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "state"), fold)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), "T", 0, time.Now(), "step", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	db, err := l.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(ctx context.Context) error {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return l.prepareLog(ctx, conn)
	}
	const full = 2
	for range 2000 {
		if err := l.Exec(t.Context(), "PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = FULL"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(rand.N(200*time.Microsecond), cancel)
		err := prepare(ctx)
		cancel()
		var synchronous int
		if err := db.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil {
			t.Fatal(err)
		}
		if synchronous != full {
			t.Fatalf("commits do not wait for the disk after an interrupt: synchronous is %d, %v", synchronous, err)
		}
	}
}
