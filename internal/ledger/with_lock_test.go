package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// impatient opens a ledger with a short busy timeout.
func impatient(t *testing.T, dir string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenImpatient(t.Context(), dir, digest, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestNoneWritesWhileTheLedgerIsHeld(t *testing.T) {
	dir := fill(t)
	l, other := open(t, dir), impatient(t, dir)
	runs := 0
	err := l.WithLock(t.Context(), "b", func(head ledger.Head) error {
		runs++
		if now, err := other.Head(t.Context(), "b"); err != nil || !reflect.DeepEqual(now, head) || head.N != 5 {
			t.Errorf("held is %+v, another reads %+v, %v", head, now, err)
		}
		_, err := other.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
		wantCode(t, err, errs.LedgerBusy)
		wantCode(t, other.WithLock(t.Context(), "a", func(ledger.Head) error { t.Error("held twice"); return nil }), errs.LedgerBusy)
		return nil
	})
	if err != nil || runs != 1 {
		t.Errorf("WithLock gives %v after %d runs", err, runs)
	}
	add(t, other, "a", 5)
	add(t, l, "b", 5)
	if report := wantSound(t, l); report.Events != 17 {
		t.Errorf("the ledger holds %d events", report.Events)
	}
}

func TestWithLockReturnsWhatItsFunctionReturns(t *testing.T) {
	dir := fill(t)
	busy := func() error {
		l := impatient(t, dir)
		lock(t, dir)
		_, err := l.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
		wantCode(t, err, errs.LedgerBusy)
		return err
	}()
	for _, want := range []error{errRefused, busy, context.Canceled} {
		runs := 0
		err := open(t, fill(t)).WithLock(t.Context(), "a", func(ledger.Head) error { runs++; return want })
		if err != want || runs != 1 {
			t.Errorf("WithLock gives %v after %d runs, want %v", err, runs, want)
		}
	}
}

func TestWithLockWithoutATaskOrALedger(t *testing.T) {
	for _, dir := range []string{fill(t), state(t)} {
		made := exists(dir)
		err := open(t, dir).WithLock(t.Context(), "new", func(head ledger.Head) error {
			if !reflect.DeepEqual(head, ledger.Head{}) {
				t.Errorf("the head is %+v", head)
			}
			return errRefused
		})
		if err != errRefused || exists(dir) != made {
			t.Errorf("WithLock gives %v", err)
		}
	}
}

func TestTheEndOfAContextReleasesNothingThatIsHeld(t *testing.T) {
	dir := fill(t)
	l, other := open(t, dir), impatient(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	err := l.WithLock(ctx, "a", func(ledger.Head) error {
		cancel()
		time.Sleep(20 * time.Millisecond) // database/sql would have rolled back by now
		_, err := other.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
		wantCode(t, err, errs.LedgerBusy)
		return nil
	})
	if err != nil {
		t.Errorf("WithLock gives %v", err)
	}
	err = l.WithLock(ctx, "a", func(ledger.Head) error { t.Error("it ran"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("WithLock with an ended context gives %v", err)
	}
	add(t, other, "a", 5)
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	lock(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := l.WithLock(ctx, "a", func(ledger.Head) error { t.Error("it ran"); return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WithLock gives %v", err)
	}
}

func TestAPanicReleasesTheLedger(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	func() {
		defer func() { recover() }()
		l.WithLock(t.Context(), "a", func(ledger.Head) error { panic("boom") })
	}()
	add(t, impatient(t, dir), "a", 5)
	add(t, l, "a", 6)
}
