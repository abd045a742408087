package metrics

import (
	"context"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// guardedSource is a source for long-running exporters: it fails once a ledger that had
// events is gone. It is safe for concurrent use.
type guardedSource struct {
	Source
	seen atomic.Bool
}

func (s *guardedSource) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t, err := s.Source.Counters(ctx, queries...)
	if err != nil {
		return t, err
	}
	if t.Events > 0 {
		s.seen.Store(true)
	} else if s.seen.Load() {
		return ledger.Counters{}, errs.New(errs.MetricsLedgerGone, "the ledger does not exist anymore")
	}
	return t, nil
}
