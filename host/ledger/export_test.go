package ledger

import (
	"context"
	"time"
)

// OpenImpatient is Open with another busy time.
func OpenImpatient(ctx context.Context, dir string, fold Fold, busy time.Duration) (*Ledger, error) {
	return open(ctx, dir, fold, released(), busy)
}

// Exec runs SQL on the ledger's own connection.
func (l *Ledger) Exec(ctx context.Context, query string) error {
	_, err := l.db.ExecContext(ctx, query)
	return err
}
