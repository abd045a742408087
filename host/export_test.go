package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// OpenLedger opens the ledger in a state directory with the engine's fold, so that a test
// can record a long history at once.
func OpenLedger(ctx context.Context, dir string) (*ledger.Ledger, error) {
	return ledger.Open(ctx, dir, record.Fold)
}
