package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// timeout bounds Verify. The largest domain takes a tenth of it. A policy that exceeds it
// is slow for every input, but not slow enough for any single one to time out.
const timeout = 2 * time.Minute

// Verify checks the policy against every invariant. Violations are part of the report,
// not an error. It uses all processors, and some 100 microseconds of one for each class
// of inputs.
//
// If the policy times out on one input, no further inputs are decided and only the tables
// are checked.
//
// # Errors
//
//   - policy-waiver-invalid: a waiver names an unknown invariant or one that cannot be
//     waived, or lacks an ADR or a reason. The detail invariant is its name.
//   - policy-domain-too-large: the policy has too many input classes.
//   - policy-failed, policy-timeout: ctx is done, which is reachable through errors.Is,
//     or the check took longer than timeout.
//   - The errors of routing.Policy.Branches.
func Verify(ctx context.Context, p *routing.Policy, o Options) (Report, error) {
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	if err := checkWaivers(o.Waivers); err != nil {
		return Report{}, err
	}
	d, err := inputspace.Of(routing.DecisionRule, p)
	if err != nil {
		return Report{}, err
	}
	branches, err := p.Branches(ctx, routing.DecisionRule)
	if ctx.Err() != nil {
		return Report{}, interrupted(ctx, p)
	}
	if err != nil {
		return Report{}, err
	}
	asked, err := ask(ctx, p, d, o.Progress)
	if err != nil {
		return Report{}, err
	}

	c := newChecker(p, d, branches, asked)
	c.checkDecisions()
	report := Report{
		Policy:     p.Identity(),
		States:     asked.classes,
		Probes:     asked.classes,
		Branches:   len(branches.All()),
		Categories: len(p.RouteTable()),
		Gaps:       d.Gaps(),
	}
	if asked.slow {
		c.skipDecisions()
	} else {
		c.checkClasses(ctx)
		c.checkDeadRows()
		c.checkShadowedBranches(ctx)
		c.locate(ctx)
		err = c.checkBars(ctx, &report)
	}
	c.checkStuckFirst()
	c.checkCategories(o.Raised)
	if ctx.Err() != nil { // some of these may be incomplete
		return Report{}, interrupted(ctx, p)
	}
	if err != nil {
		return Report{}, err
	}

	report.Results = c.results(o)
	report.Millis = time.Since(began).Milliseconds()
	return report, nil
}

// checkWaivers rejects waivers that no decision record can give, so that their author
// does not rely on them.
func checkWaivers(waivers []Waiver) error {
	for _, w := range waivers {
		reason := ""
		switch {
		case !slices.Contains(Invariants(), w.Invariant):
			reason = "there is no such invariant"
		case !w.Invariant.Waivable():
			reason = "no decision record can waive it"
		case w.ADR == "":
			reason = "the waiver names no decision record"
		case w.Reason == "":
			reason = "the waiver gives no reason"
		default:
			continue
		}
		return errs.New(errs.PolicyWaiverInvalid, "invariant %q cannot be waived: %s", w.Invariant, reason).
			With("invariant", w.Invariant).
			With("adr", w.ADR)
	}
	return nil
}

// interrupted returns the error for a check that ctx ended.
func interrupted(ctx context.Context, p *routing.Policy) error {
	code := errs.PolicyFailed
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = errs.PolicyTimeout
	}
	return errs.New(code, "verifying policy %s was interrupted: %w", p, ctx.Err()).With("policy", p.String())
}
