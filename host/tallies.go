package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/ledger"
)

// Tallies reads sums of the project's ledger as of one moment. It opens the ledger
// anew each time, so that whoever asks for hours sees the one that is there.
func (e *Engine) Tallies(ctx context.Context, queries ...ledger.TallyQuery) (ledger.Tallies, error) {
	l, err := e.ledger(ctx)
	if err != nil {
		return ledger.Tallies{}, err
	}
	defer l.Close()
	return l.Tallies(ctx, queries...)
}
