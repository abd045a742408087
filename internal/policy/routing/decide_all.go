package routing

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// DecideRetrying is Decide for thousands of calls in a row: it retries a timeout once, so
// that a busy machine is not reported as a slow policy.
func (p *Policy) DecideRetrying(ctx context.Context, in Input) (Decision, error) {
	d, err := p.Decide(ctx, in)
	if errs.CodeOf(err) == errs.PolicyTimeout && ctx.Err() == nil {
		return p.Decide(ctx, in)
	}
	return d, err
}

// Outcome is the result for one of several inputs: a decision, or the error of Decide.
type Outcome struct {
	Decision Decision
	Err      error
}

// DecideAll is DecideRetrying for several inputs, in order, and costs less than separate
// calls. It stops at the first input that times out, or that fails because ctx is done.
// If there are fewer outcomes than inputs, the last outcome has an error.
//
// Batches of a hundred inputs are enough. If a batch takes longer than one input may,
// each input is decided separately.
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

// decideBatch decides all inputs within the time limit of one, and fails if that is too
// short. A goroutine per input would cost up to a fifth of a decision.
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

// decideHere is Decide in the caller's goroutine and may block indefinitely. The error is
// errInterrupted if ctx ends first.
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
