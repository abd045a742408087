package policies

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// DecidePatiently is Decide for those who ask thousands of times in a row: where the
// policy runs over its time, it is asked once more, so that a busy machine is not
// taken for a slow policy.
func (p *Policy) DecidePatiently(ctx context.Context, in Input) (Decision, error) {
	d, err := p.Decide(ctx, in)
	if fault.CodeOf(err) == CodeTimeout && ctx.Err() == nil {
		return p.Decide(ctx, in)
	}
	return d, err
}
