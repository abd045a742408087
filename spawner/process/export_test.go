package process

import "context"

// RunImpatient is Run with no time at all for the hard kill to take effect.
func RunImpatient(ctx context.Context, s Spec) (Result, error) { return run(ctx, s, 0) }
