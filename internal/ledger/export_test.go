package ledger

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// OpenImpatient is Open with another busy timeout.
func OpenImpatient(ctx context.Context, dir string, fold Fold, busy time.Duration) (*Ledger, error) {
	return open(ctx, dir, fold, released(), busy)
}

// NewView returns a view for calling a fold.
func NewView(state jsontext.Value, load func(keys []string) (map[string]jsontext.Value, error)) *View {
	return &View{State: state, load: load}
}

// Exec runs SQL on the ledger's own connection.
func (l *Ledger) Exec(ctx context.Context, query string) error {
	_, err := l.db.ExecContext(ctx, query)
	return err
}

// Refold rebuilds the projections, as a migration does.
func (l *Ledger) Refold(ctx context.Context) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := rebuild(ctx, tx, l.fold, l.archive()); err != nil {
		return err
	}
	return tx.Commit()
}

// Append is AppendAll of one event.
func (l *Ledger) Append(ctx context.Context, task string, after int64, at time.Time, kind string, body []byte) (Event, error) {
	events, err := l.AppendAll(ctx, at, Batch{Task: task, After: after, Events: []NewEvent{{Kind: kind, Body: body}}})
	if err != nil {
		return Event{}, err
	}
	return events[0], nil
}
