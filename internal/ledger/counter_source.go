package ledger

import "context"

// CounterSource has the counters of a ledger: a *Ledger, or an engine for its project.
type CounterSource interface {
	// Counters returns the counters that the queries ask for, a list each, all as of one
	// moment.
	Counters(ctx context.Context, queries ...CounterQuery) (Counters, error)
}
