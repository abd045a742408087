package ledger

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/internal/retry"
)

// waitSlice is how long SQLite itself waits for a lock, in milliseconds. It is short
// because SQLite does not notice a cancelled context while it waits.
const waitSlice = "100"

// retry runs f until it succeeds, fails for another reason than a lock, the ledger's
// busy time is over or ctx ends. f must have no effect when it fails. The error has its
// code.
func (l *Ledger) retry(ctx context.Context, op string, f func() error) error {
	limited, cancel := context.WithTimeout(ctx, l.busy)
	defer cancel()
	var err error
	for range (retry.Backoff{First: 2 * time.Millisecond, Max: 8 * time.Millisecond}).Attempts(limited) {
		if err = f(); !isBusy(err) {
			break
		}
	}
	return translate(ctx, op, err)
}
