package host

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// StopRequest puts a task aside.
type StopRequest struct {
	// Reason says why; it is never empty.
	Reason string
	// Request has the reports that the task is left with; without any it keeps
	// the findings that it has.
	Request Request
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool
}

// Stop puts a task aside as stuck, on a person's word.
func (e *Engine) Stop(ctx context.Context, id string, req StopRequest) (Step, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	var policy chosenPolicy
	var all []evidence
	if len(req.Request.Reports) > 0 {
		loading := e.load(ctx, req.Request, config)
		defer loading.cancel()
		if policy, all, err = loading.wait(ctx); err != nil {
			return Step{}, err
		}
	}
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, record, error) {
		halt := task.Halt{Reason: req.Reason, By: e.by, FindingCount: -1, ForgetCap: req.ForgetCap}
		if policy.Policy == nil {
			return halt, record{}, nil
		}
		if _, err := bind(all, id, max(s.status.Round, 1)); err != nil {
			return nil, record{}, err
		}
		findings := merge(policy.Policy, found(all))
		halt.FindingCount = len(findings)
		return halt, record{Findings: findings}, nil
	})
	return Step{TaskStatus: status, Recorded: event}, err
}

// found lists the findings of reports; none is not nil.
func found(all []evidence) []finding.Finding {
	findings := []finding.Finding{}
	for _, ev := range all {
		findings = append(findings, ev.result.Findings...)
	}
	return findings
}

// ResumeRequest is how a stuck task goes on.
type ResumeRequest struct {
	Mode task.Mode
	// Rounds are added to the cap in the mode task.MoreRounds.
	Rounds int
	Reason string
}

// Resume takes a task out of being stuck, into its next round.
//
// # Errors
//
// task-not-stuck, rounds-exhausted.
func (e *Engine) Resume(ctx context.Context, id string, req ResumeRequest) (Step, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	return e.step(ctx, id, task.Resume{
		Mode: req.Mode, Rounds: req.Rounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Reason: req.Reason, By: e.by,
	})
}
