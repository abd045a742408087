package ledger_test

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// TestLend tests that many users of one ledger record what they would with one each, from
// its creation on, and that each can close his own without the others noticing.
func TestLend(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	const users, events = 8, 10
	var all sync.WaitGroup
	for i := range users {
		all.Go(func() {
			for n := range int64(events) {
				lent := l.Lend()
				if _, err := lent.Append(t.Context(), string(rune('a'+i)), n, clock(n), "added", []byte("{}")); err != nil {
					t.Error(err)
				}
				if head, err := lent.Head(t.Context(), string(rune('a'+i))); err != nil || head.N != n+1 {
					t.Errorf("after event %d it reads %d, %v", n+1, head.N, err)
				}
				if err := lent.Close(); err != nil {
					t.Error(err)
				}
				if _, err := lent.Last(t.Context()); !errors.Is(err, os.ErrClosed) {
					t.Errorf("after its end it gives %v", err)
				}
			}
		})
	}
	all.Wait()
	wantSound(t, l)
	if last, err := l.Last(t.Context()); err != nil || last != users*events {
		t.Errorf("it has %d events (%v), want %d", last, err, users*events)
	}
	lent := l.Lend()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := lent.Last(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the owner's end it gives %v", err)
	}
}
