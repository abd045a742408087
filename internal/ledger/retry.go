package ledger

import (
	"context"
	"math/rand/v2"
	"time"
)

// waitSlice is how long SQLite itself waits for a lock, in milliseconds. It is much
// shorter than busyTime because SQLite does not notice a cancelled context while
// it waits; retry does, between two slices.
const waitSlice = "100"

// retry runs f until it succeeds, fails for another reason than a lock, the
// ledger's busy time is over or ctx ends. f must leave nothing behind when it
// fails. The error it returns has its code.
func (l *Ledger) retry(ctx context.Context, op string, f func() error) error {
	deadline := time.Now().Add(l.busy)
	for {
		err := f()
		if !isBusy(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return translate(ctx, op, err)
		}
		// Where SQLite did not wait itself, a pause keeps this from spinning,
		// and chance keeps many processes from meeting again.
		timer := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
