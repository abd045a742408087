package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Counters reads counters of the project's ledger as of one moment. It opens the ledger
// anew each time, so that whoever asks for hours sees the one that is there.
func (e *Engine) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	// For reading alone, unless the ledger is one that kept no sums yet.
	t, err := readCounters(ctx, func() (*ledger.Ledger, error) { return ledger.Open(ctx, e.project.State(), nil) }, queries)
	if errs.CodeOf(err) == errs.LedgerOlder {
		return readCounters(ctx, func() (*ledger.Ledger, error) { return e.OpenLedger(ctx) }, queries)
	}
	return t, err
}

func readCounters(ctx context.Context, open func() (*ledger.Ledger, error), queries []ledger.CounterQuery) (ledger.Counters, error) {
	l, err := open()
	if err != nil {
		return ledger.Counters{}, err
	}
	defer l.Close()
	return l.Counters(ctx, queries...)
}
