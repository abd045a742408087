package round

import (
	"cmp"
	"context"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// Route decides on reports alone. It records nothing and has no task, so every finding is
// new. The round is the request's, else the one that the reports name, else 1.
func (e *Engine) Route(ctx context.Context, req api.Request) (api.Decision, error) {
	config, err := e.project.Plugins().Config(ctx, req.Reports...)
	if err != nil {
		return api.Decision{}, err
	}
	if len(req.Reports) == 0 {
		return api.Decision{}, errNoEvidence()
	}
	inputs := e.startLoading(ctx, req, config)
	defer inputs.cancel()
	policy, all, err := inputs.wait(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	round, err := pluginset.CheckSubject(all, "", req.Round)
	if err != nil {
		return api.Decision{}, err
	}
	if err := e.project.Policies().CheckUnrecorded(ctx, policy); err != nil {
		return api.Decision{}, err
	}
	maxRounds := cmp.Or(req.MaxRounds, config.MaxRounds)
	d, _, err := decision.Query{
		Policy: policy.Policy, Evidence: all, Verify: cmp.Or(req.Verify.Claim, policies.Absent),
		Round: max(round, 1), MaxRounds: maxRounds, HardCap: task.HardCap(maxRounds, config.HardCap),
	}.Decide(ctx)
	if err == nil && req.Explain {
		d.Why, err = explain.Decision(ctx, policy.Policy, d.Input, d.BarInput)
	}
	return d, err
}

// pendingInputs are the policy and the reports of a request, which load concurrently. The
// caller must cancel them.
type pendingInputs struct {
	cancel  context.CancelFunc
	loaded  chan struct{} // closed once the other fields are set
	policy  policyset.Selection
	reports []pluginset.Report
	err     error
}

func (e *Engine) startLoading(ctx context.Context, req api.Request, config project.Config) *pendingInputs {
	ctx, cancel := context.WithCancel(ctx)
	l := &pendingInputs{cancel: cancel, loaded: make(chan struct{})}
	e.project.Background(func() {
		defer close(l.loaded)
		var reportErr error
		var reports sync.WaitGroup
		reports.Go(func() { l.reports, reportErr = e.project.Plugins().NormalizeAll(ctx, req.Reports, req.Stdin, config) })
		if l.policy, l.err = e.project.Policies().Select(ctx, req.Policy, config); l.err != nil {
			cancel()
		}
		reports.Wait()
		// A policy error comes before a report error, so that the same mistake always gives
		// the same error.
		l.err = cmp.Or(l.err, reportErr)
	})
	return l
}

// wait returns the loaded inputs. If ctx is done, it returns the cause without waiting.
func (l *pendingInputs) wait(ctx context.Context) (policyset.Selection, []pluginset.Report, error) {
	select {
	case <-l.loaded:
		return l.policy, l.reports, l.err
	case <-ctx.Done():
		return policyset.Selection{}, nil, context.Cause(ctx)
	}
}

func errNoEvidence() error { return errs.New(errs.NoEvidence, "no report is given") }

const maxInput = 1 << 20 // bytes

// Ask evaluates a policy on a bare input without findings, such as a recorded input or a
// counterexample of a check.
//
// # Errors
//
// policy-invalid-input if the input is malformed, errors of reading it, and of policies.
func (e *Engine) Ask(ctx context.Context, req api.AskRequest) (api.Decision, error) {
	config, err := e.project.Config(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	in, err := e.readInput(ctx, req)
	if err != nil {
		return api.Decision{}, err
	}
	policy, err := e.project.Policies().Select(ctx, req.Policy, config)
	if err != nil {
		return api.Decision{}, err
	}
	if err := e.project.Policies().CheckUnrecorded(ctx, policy); err != nil {
		return api.Decision{}, err
	}
	d, err := decision.OnInput(ctx, policy.Policy, in)
	if err == nil && req.Explain {
		d.Why, err = explain.Decision(ctx, policy.Policy, d.Input, d.BarInput)
	}
	return d, err
}

func (e *Engine) readInput(ctx context.Context, req api.AskRequest) (policies.Input, error) {
	var text []byte
	var err error
	if req.Path == api.Stdin {
		text, err = project.ReadAll(ctx, req.Stdin, "standard input", maxInput)
		if errs.CodeOf(err) == errs.FileTooLarge {
			err = errs.New(errs.PolicyInvalidInput, "the input has more than %d bytes", maxInput).With("limit", maxInput)
		}
	} else {
		text, err = e.project.Read(ctx, req.Path, maxInput)
	}
	if err != nil {
		return policies.Input{}, err
	}
	var in policies.Input
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return in, errs.New(errs.PolicyInvalidInput, "%s is not an input of a policy: %w", req.Path, textutil.JSONReason(err)).With("path", req.Path)
	}
	return in, nil
}
