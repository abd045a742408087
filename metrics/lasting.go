package metrics

import (
	"context"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Lasting is a source for whoever asks for hours: it fails where the ledger was there
// before and is not any more. It is safe for concurrent use.
type Lasting struct {
	Source
	seen atomic.Bool
}

// NewLasting returns a source on another one.
func NewLasting(source Source) *Lasting { return &Lasting{Source: source} }

// Tallies asks the source.
//
// # Errors
//
// metrics-ledger-gone, and the source's.
func (l *Lasting) Tallies(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t, err := l.Source.Tallies(ctx, queries...)
	if err != nil {
		return t, err
	}
	if t.Events > 0 {
		l.seen.Store(true)
	} else if l.seen.Load() {
		return ledger.Counters{}, errs.New(errs.MetricsLedgerGone, "there was a ledger, and now there is none")
	}
	return t, nil
}
