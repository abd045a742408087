package round

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Stop puts a task aside as stuck, on a person's word.
func (e *Engine) Stop(ctx context.Context, id string, req api.StopRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	var policy policyset.Selection
	var all []pluginset.Report
	if len(req.Request.Reports) > 0 {
		inputs := e.startLoading(ctx, req.Request, config)
		defer inputs.cancel()
		if policy, all, err = inputs.wait(ctx); err != nil {
			return api.TaskResult{}, err
		}
	}
	status, event, err := e.update(ctx, id, func(tx *taskTx) (task.Command, event.Full, error) {
		halt := task.StopTask{Reason: req.Reason, By: e.by, FindingCount: -1, ForgetCap: req.ForgetCap}
		if policy.Policy == nil {
			return halt, event.Full{}, nil
		}
		if _, err := pluginset.CheckSubject(all, id, max(tx.status.Round, 1)); err != nil {
			return nil, event.Full{}, err
		}
		findings := merge(policy.Policy, found(all))
		halt.FindingCount = len(findings)
		return halt, event.Full{Findings: findings}, nil
	})
	return api.TaskResult{TaskStatus: status, Recorded: event}, err
}

// found lists the findings of reports; none is not nil.
func found(all []pluginset.Report) []finding.Finding {
	findings := []finding.Finding{}
	for _, ev := range all {
		findings = append(findings, ev.Result.Findings...)
	}
	return findings
}

// Resume takes a task out of being stuck, into its next round.
//
// # Errors
//
// task-not-stuck, rounds-exhausted.
func (e *Engine) Resume(ctx context.Context, id string, req api.ResumeRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	return e.apply(ctx, id, task.ResumeTask{
		Mode: req.Mode, Rounds: req.Rounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Reason: req.Reason, By: e.by,
	})
}
