package routing

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// evalTimeout bounds an attempt at a decision. The embedded policies take some 30
// microseconds; a policy that needs a second is broken, unless the machine was too busy to
// run it. So a second attempt decides.
const evalTimeout = time.Second

// Decision is the next destination of a task and the reason.
type Decision struct {
	// NextAction is a declared destination.
	NextAction string `json:"next_action"`
	// Reason is a short name of up to 64 lower-case letters, digits and hyphens. Policies
	// may add their own, so callers must not switch on it exhaustively.
	Reason string `json:"reason"`
}

// Decide evaluates the policy for in. It takes at most twice evalTimeout and ends with ctx. It
// is safe for concurrent use, does not retain in, and is deterministic.
//
// # Errors
//
// A decision returned with an error must not be used.
//
//   - policy-invalid-input: in contradicts itself; the policy was not evaluated.
//   - policy-undefined, policy-failed, policy-timeout: the policy made no decision. The
//     error of a done ctx is reachable through errors.Is.
//   - policy-invalid-decision, policy-undeclared-destination, policy-unsafe-commit: the
//     host rejects the decision.
func (p *Policy) Decide(ctx context.Context, in Input) (Decision, error) {
	in, err := p.Read(in)
	if err != nil {
		return Decision{}, err
	}
	a, err := p.ask(ctx, p.evaluate, in, in.value(DecisionRule))
	if err != nil {
		return Decision{}, err
	}
	if !a.defined {
		return Decision{}, p.fault(errs.PolicyUndefined, in, "policy %s makes no decision", p)
	}
	d, ok := decision(a.value)
	if !ok {
		return Decision{}, p.fault(errs.PolicyInvalidDecision, in, "policy %s returned something that is not a decision", p).
			With("returned", shown(a.value))
	}
	if err := p.accept(in, d); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// Bar evaluates the rule bar for in, which counts all findings, so in.DeferredCount is
// ignored. Without that rule the bar is BarAll. Otherwise Bar is like Decide.
//
// # Errors
//
// Errors as from Decide, with policy-invalid-bar for a rejected value.
func (p *Policy) Bar(ctx context.Context, in Input) (Bar, error) {
	if !p.bar {
		return BarAll, nil
	}
	in, err := p.Read(in)
	if err != nil {
		return "", err
	}
	a, err := p.ask(ctx, p.evaluateBar, in, in.value(BarRule))
	if err != nil {
		return "", err
	}
	if !a.defined {
		return "", p.fault(errs.PolicyUndefined, in, "policy %s has no bar for the input", p)
	}
	text, _ := a.value.(string)
	if !Bar(text).Valid() {
		return "", p.fault(errs.PolicyInvalidBar, in, "policy %s returned something that is not a bar", p).With("returned", shown(a.value))
	}
	return Bar(text), nil
}

// Read returns in as the policy sees it, or the error policy-invalid-input.
func (p *Policy) Read(in Input) (Input, error) {
	switch {
	case !p.bar:
		in.Facts = nil
	case in.Facts == nil:
		in.Facts = firstReview(in)
	}
	return in, in.check(p.tables)
}

// Ask is Decide or Bar. For the rule bar, NextAction is the bar and Reason is empty.
func (p *Policy) Ask(ctx context.Context, rule Rule, in Input) (Decision, error) {
	if rule == BarRule {
		bar, err := p.Bar(ctx, in)
		return Decision{NextAction: string(bar)}, err
	}
	return p.Decide(ctx, in)
}

// Undecided replaces the next action if a policy fails for an input; the reason is then the
// error code. A policy cannot declare it.
const Undecided = "undecided"

// AskOrCode is Ask with the decision Undecided for an input that the policy rejects or fails
// on.
//
// # Errors
//
// The end of ctx; and policy-timeout, because a policy that is slow for one input may be
// slow for all, and this varies between runs.
func (p *Policy) AskOrCode(ctx context.Context, rule Rule, in Input) (Decision, error) {
	d, err := p.Ask(ctx, rule, in)
	return OrCode(ctx, d, err)
}

// OrCode converts the result of Ask or AskOnce to that of AskOrCode.
func OrCode(ctx context.Context, d Decision, err error) (Decision, error) {
	if code := errs.CodeOf(err); err != nil && ctx.Err() == nil && code != errs.PolicyTimeout {
		return Decision{NextAction: Undecided, Reason: string(code)}, nil
	}
	return d, err
}

// ask evaluates e for value, in a second attempt if the first takes too long. in is for errors.
func (p *Policy) ask(ctx context.Context, e evaluator, in Input, value ast.Value) (answer, error) {
	a, err := p.attempt(ctx, e, in, value)
	if errs.CodeOf(err) == errs.PolicyTimeout && ctx.Err() == nil {
		return p.attempt(ctx, e, in, value)
	}
	return a, err
}

// attempt evaluates e for value within evalTimeout.
func (p *Policy) attempt(ctx context.Context, e evaluator, in Input, value ast.Value) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, evalTimeout)
	defer stop()
	// A small policy would finish before ctx is checked.
	if err := ctx.Err(); err != nil {
		return answer{}, p.interrupted(in, err)
	}
	a, err := Bounded(ctx, func() (answer, error) { return e(ctx, value) })
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return answer{}, p.interrupted(in, ctx.Err())
	default:
		return answer{}, p.failed(in, err)
	}
}

// accept rejects decisions that no policy may make.
func (p *Policy) accept(in Input, d Decision) error {
	if _, ok := p.tables.destinations[d.NextAction]; !ok {
		return p.fault(errs.PolicyUndeclaredDestination, in, "policy %s decided for %q, which it does not declare", p, textutil.Clip(d.NextAction, maxMessage)).
			With("next_action", textutil.Clip(d.NextAction, maxMessage))
	}
	if d.NextAction != Commit {
		return nil
	}
	if in.FindingCount > 0 {
		return p.fault(errs.PolicyUnsafeCommit, in, "policy %s would commit with %s", p, textutil.Count(in.FindingCount, "open finding"))
	}
	if in.Verify == Red {
		return p.fault(errs.PolicyUnsafeCommit, in, "policy %s would commit over a red verification", p)
	}
	return nil
}

// shown returns a policy's value for an error: the value, or the beginning of its JSON if
// that is long.
func shown(value any) any {
	text, err := json.Marshal(value)
	if err == nil && len(text) <= maxMessage {
		return value
	}
	return oneLine(string(text))
}

// decision reads {next_action, reason} and rejects other keys.
func decision(value any) (Decision, bool) {
	object, ok := value.(map[string]any)
	if !ok || len(object) != 2 {
		return Decision{}, false
	}
	action, ok1 := object["next_action"].(string)
	reason, ok2 := object["reason"].(string)
	return Decision{NextAction: action, Reason: reason}, ok1 && ok2 && action != "" && IsName(reason)
}

// interrupted distinguishes a slow policy from a canceled caller.
func (p *Policy) interrupted(in Input, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return p.fault(errs.PolicyTimeout, in, "policy %s ran over its time: %w", p, cause).
			With("timeout_ms", evalTimeout.Milliseconds())
	}
	return p.fault(errs.PolicyFailed, in, "policy %s was interrupted: %w", p, cause)
}

// failed converts an error of OPA's evaluator.
func (p *Policy) failed(in Input, err error) error {
	problem := Problem{Message: oneLine(err.Error())}
	for e, ok := errors.AsType[*topdown.Error](err); ok; e, ok = errors.AsType[*topdown.Error](e.Unwrap()) {
		problem = problemAt(e.Location, "%s", oneLine(e.Message)) // the innermost names the built-in
	}
	problem = p.withSource(problem)
	return p.fault(errs.PolicyFailed, in, "policy %s failed: %s", p, problem).With("problems", []Problem{problem})
}

// fault returns an error of this policy for this input.
func (p *Policy) fault(code errs.Code, in Input, format string, args ...any) *errs.Error {
	return errs.New(code, format, args...).
		With("policy", p.String()).
		With("digest", p.identity.Digest).
		With("input", in)
}

// String returns the policy as NAME@VERSION, such as routing@1.0.0. Load accepts that
// only for embedded policies.
func (p *Policy) String() string { return p.identity.String() }
