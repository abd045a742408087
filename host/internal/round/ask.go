package round

import (
	"context"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// maxInput is the largest file of a policy's input, in bytes.
const maxInput = 1 << 20

// Ask lets a policy decide on its bare input, without any findings to it: the one
// that a decision was recorded with, or a counterexample of a proof.
//
// # Errors
//
// policy-invalid-input for what is no input, and those of reading it and of
// policies.
func (e *Engine) Ask(ctx context.Context, req api.AskRequest) (api.Decision, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	in, err := e.readInput(ctx, req)
	if err != nil {
		return api.Decision{}, err
	}
	policy, err := e.policies.Select(ctx, req.Policy, config)
	if err != nil {
		return api.Decision{}, err
	}
	if err := e.policies.CheckUnrecorded(ctx, policy); err != nil {
		return api.Decision{}, err
	}
	chosen, err := policy.Decide(ctx, in)
	if err != nil {
		return api.Decision{}, err
	}
	d := api.Decision{
		Round: in.Round, MaxRounds: in.MaxRounds, Policy: policy.Identity(), Input: in, Findings: []finding.Finding{},
		NextAction: chosen.NextAction, Reason: chosen.Reason,
	}
	setProgress(&d, task.Progress{
		New: in.NewCount, Repeat: in.RepeatCount, Reopened: in.ReopenedCount, Resolved: in.ResolvedCount, Stalled: in.StalledRounds,
	})
	setRouting(&d)
	d.Routing.FindingCount = in.FindingCount
	setDestination(&d, policy.Policy)
	if req.Explain {
		d.Why, err = explained(ctx, policy.Policy, in)
	}
	return d, err
}

func (e *Engine) readInput(ctx context.Context, req api.AskRequest) (policies.Input, error) {
	var text []byte
	var err error
	if req.Path == api.Stdin {
		text, err = io.ReadAll(io.LimitReader(req.Stdin, maxInput+1))
	} else {
		text, err = e.project.Read(ctx, req.Path, maxInput)
	}
	if err != nil {
		return policies.Input{}, err
	}
	var in policies.Input
	if len(text) > maxInput {
		return in, errs.New(errs.PolicyInvalidInput, "the input has more than %d bytes", maxInput).With("limit", maxInput)
	}
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return in, errs.New(errs.PolicyInvalidInput, "%s is no input of a policy: %w", req.Path, err).With("path", req.Path)
	}
	return in, nil
}

// explained says why a policy decides an input as it does.
func explained(ctx context.Context, p *policies.Policy, in policies.Input) (*explain.Explanation, error) {
	x, err := explain.Explain(ctx, p, in)
	if err != nil {
		return nil, err
	}
	return &x, nil
}
