package routing

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// DecideRetrying is Decide for those who ask thousands of times in a row: where the
// policy runs over its time, it is asked once more, so that a busy machine is not
// taken for a slow policy.
func (p *Policy) DecideRetrying(ctx context.Context, in Input) (Decision, error) {
	d, err := p.Decide(ctx, in)
	if errs.CodeOf(err) == errs.PolicyTimeout && ctx.Err() == nil {
		return p.Decide(ctx, in)
	}
	return d, err
}

// Outcome is what came of one input of several: a decision, or the error of Decide.
type Outcome struct {
	Decision Decision
	Err      error
}

// DecideAll is DecideRetrying for several inputs, in their order, for less than each
// alone would cost. It ends with the first one that the policy runs over its time for,
// or that fails when ctx is done. If there are fewer outcomes than inputs, the last
// one has an error.
//
// A hundred inputs at a time are enough. If they take longer together than one may,
// each is decided alone after all.
func (p *Policy) DecideAll(ctx context.Context, ins []Input) []Outcome {
	if outcomes, err := p.decideBatch(ctx, ins); err == nil {
		return outcomes
	}
	var outcomes []Outcome
	for _, in := range ins {
		d, err := p.DecideRetrying(ctx, in)
		outcomes = append(outcomes, Outcome{d, err})
		if err != nil && (errs.CodeOf(err) == errs.PolicyTimeout || ctx.Err() != nil) {
			break
		}
	}
	return outcomes
}

// decideBatch decides inputs in the time that one may take, and fails where that
// is too little. A goroutine for each, which has to be waited for, would cost as much
// as a fifth of a decision.
func (p *Policy) decideBatch(ctx context.Context, ins []Input) ([]Outcome, error) {
	ctx, stop := context.WithTimeout(ctx, EvalTimeout)
	defer stop()
	return Bounded(ctx, func() ([]Outcome, error) {
		outcomes := make([]Outcome, len(ins))
		for i, in := range ins {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			d, err := p.decideHere(ctx, in)
			if errors.Is(err, errInterrupted) {
				return nil, err
			}
			outcomes[i] = Outcome{d, err}
		}
		return outcomes, nil
	})
}

// decideHere is Decide in the caller's goroutine, which may have to wait for ever. The
// error is errInterrupted where ctx ends first.
func (p *Policy) decideHere(ctx context.Context, in Input) (Decision, error) {
	if err := in.check(p.tables); err != nil {
		return Decision{}, err
	}
	a, err := p.evaluator.evaluate(ctx, in)
	if errors.Is(err, errInterrupted) {
		return Decision{}, err
	}
	if err != nil {
		return Decision{}, p.failed(in, err)
	}
	return p.judge(in, a)
}
