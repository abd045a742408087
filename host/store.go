package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// store appends to the ledger, now. Everything that an engine records goes through it.
func (e *Engine) store(ctx context.Context, l *ledger.Ledger, batches ...ledger.Batch) ([]ledger.Event, error) {
	events, err := l.AppendAll(ctx, e.now(), batches...)
	if err == nil {
		e.recorded.Store(true)
	}
	return events, err
}

// Recorded reports whether anything was recorded since the engine was made, so that
// who shows what is in the ledger has something new to show.
func (e *Engine) Recorded() bool { return e.recorded.Load() }
