package round

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const maxQuery = 2000 // bytes

// Start begins the work on a task. If the task was committed or stuck, it begins anew in
// the next round.
//
// # Errors
//
// task-started if the task is already open, rounds-exhausted, round-running if a run drives the
// task.
func (e *Engine) Start(ctx context.Context, id string, req api.StartRequest) (api.TaskResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	tx, err := tasktx.Open(ctx, e.project, id)
	if err != nil {
		return api.TaskResult{}, err
	}
	defer tx.Close()
	if tx.Status.Branch != nil { // A run may be making the commit of the round before.
		held, err := spawns.LockRun(ctx, e.project, id)
		if err != nil {
			return api.TaskResult{}, err
		}
		defer e.project.Release(held)
	}
	return tx.Update(ctx, func(tx *tasktx.Tx) (task.Command, event.Full, error) {
		tx.BaseRev = req.Base
		return task.StartWork{
			Query: textutil.FitBytes(req.Query, maxQuery), MaxRounds: req.MaxRounds, Fallback: config.MaxRounds, HardCap: config.HardCap, Force: req.Force,
		}, event.Full{}, nil
	})
}

// Done records that a phase before the draft is done.
//
// # Errors
//
// evidence-missing if this round has too few attestations of the phase's agents.
func (e *Engine) Done(ctx context.Context, id string, req api.PhaseRequest) (api.TaskResult, error) {
	return e.update(ctx, id, func(_ *tasktx.Tx, config project.Config) (task.Command, event.Full, error) {
		required := 1
		if req.Phase == task.Research {
			required = config.Researchers
		}
		return task.CompletePhase{Phase: req.Phase, Required: required, Tests: req.Tests, Force: req.Force}, event.Full{}, nil
	})
}

// update runs a command that needs the configuration.
func (e *Engine) update(ctx context.Context, id string, c func(*tasktx.Tx, project.Config) (task.Command, event.Full, error)) (api.TaskResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	return tasktx.Update(ctx, e.project, id, func(tx *tasktx.Tx) (task.Command, event.Full, error) { return c(tx, config) })
}

// Commit commits a task whose latest decision is to commit.
//
// # Errors
//
// commit-precondition-missing; its detail missing lists what the round lacks.
// task-needs-run for a task with its own branch.
func (e *Engine) Commit(ctx context.Context, id string, req api.CommitRequest) (api.TaskResult, error) {
	return e.update(ctx, id, func(tx *tasktx.Tx, config project.Config) (task.Command, event.Full, error) {
		if tx.Status.Branch != nil {
			return nil, event.Full{}, tx.ErrNeedsRun()
		}
		return task.CommitTask{MustVerify: req.MustVerify || config.Verify != nil, Force: req.Force}, event.Full{}, spawns.CheckNotRunning(ctx, tx)
	})
}

// Stop marks a task as stuck on a person's request.
func (e *Engine) Stop(ctx context.Context, id string, req api.StopRequest) (api.TaskResult, error) {
	config, err := e.commandConfig(ctx)
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
	return tasktx.Update(ctx, e.project, id, func(tx *tasktx.Tx) (task.Command, event.Full, error) {
		halt := task.StopTask{Reason: req.Reason, By: e.project.By, FindingCount: -1, ForgetCap: req.ForgetCap}
		if policy.Policy == nil {
			return halt, event.Full{}, nil
		}
		if _, err := pluginset.CheckSubject(all, id, max(tx.Status.Round, 1)); err != nil {
			return nil, event.Full{}, err
		}
		findings, err := decision.Merge(policy.Policy, decision.Found(all))
		if err != nil {
			return nil, event.Full{}, err
		}
		halt.FindingCount = len(findings)
		return halt, event.Full{Findings: findings}, nil
	})
}

// Resume moves a stuck task into its next round. It ends the parking of a parked one.
//
// # Errors
//
// task-not-stuck, rounds-exhausted.
func (e *Engine) Resume(ctx context.Context, id string, req api.ResumeRequest) (api.TaskResult, error) {
	return e.update(ctx, id, func(tx *tasktx.Tx, config project.Config) (task.Command, event.Full, error) {
		switch {
		case tx.Status.Status == task.Parked:
			return task.EndParking{By: e.project.By}, event.Full{}, nil
		case tx.EndsParking() && req.Mode == "":
			return task.EndParking{}, event.Full{}, nil // The user saw it parked; nothing is left to do.
		}
		return task.ResumeTask{
			Mode: req.Mode, Rounds: req.Rounds, Fallback: config.MaxRounds, HardCap: config.HardCap, Reason: req.Reason, By: e.project.By,
		}, event.Full{}, nil
	})
}

// Answer records the user's answer. The task continues once all questions of the round
// have one. Repeating an answer has no effect.
func (e *Engine) Answer(ctx context.Context, id string, req api.AnswerRequest) (api.TaskResult, error) {
	// An agent must not answer for the user.
	if err := e.project.Inside(); err != nil {
		return api.TaskResult{}, err
	}
	return tasktx.Apply(ctx, e.project, id, task.AnswerQuestion{Round: req.Round, Fingerprint: req.Question, Choice: req.Choice, Text: req.Text, By: cmp.Or(req.By, e.project.By)})
}

// Audit records a manual attestation that an agent ran in the task's round, and checks it
// against the search-before-write rule.
func (e *Engine) Audit(ctx context.Context, id string, req api.AuditRequest) (api.AttestationResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.AttestationResult{}, err
	}
	if req.Agent, err = e.agentOnRecord(req.Agent); err != nil {
		return api.AttestationResult{}, err
	}
	tx, err := tasktx.Open(ctx, e.project, id)
	if err != nil {
		return api.AttestationResult{}, err
	}
	defer tx.Close()
	result, err := tx.Update(ctx, func(tx *tasktx.Tx) (task.Command, event.Full, error) {
		known, err := tx.Attestation(ctx, req.Agent, req.Run)
		return task.AttestAgent{
			Round: req.Round, Agent: req.Agent, Source: task.ByHand, By: e.project.By, Run: req.Run, Tools: req.Tools,
			Audited: config.Audit.Agents, SearchTools: config.Audit.SearchTools, Known: known.Agent != "",
		}, event.Full{}, err
	})
	if err != nil {
		return api.AttestationResult{}, err
	}
	if result.Recorded != nil {
		return api.AttestationResult{TaskResult: result, Attestation: result.Attestations[len(result.Attestations)-1]}, nil
	}
	known, err := tx.Attestation(ctx, req.Agent, req.Run)
	return api.AttestationResult{TaskResult: result, Attestation: known}, err
}

// agentOnRecord returns the name under which an agent is recorded, or agent-is-module. The
// agent need not have a definition.
func (e *Engine) agentOnRecord(name string) (string, error) {
	if d, err := (definition.Library{Root: e.project.Root}).Find(name); err == nil && d.Module {
		return "", d.Spawnable(d.Profile)
	}
	return definition.FullName(name), nil
}

// Search records, as a manual claim, that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req api.SearchRequest) (api.TaskResult, error) {
	if err := e.project.Inside(); err != nil {
		return api.TaskResult{}, err
	}
	agent, err := e.agentOnRecord(req.Agent)
	if err != nil {
		return api.TaskResult{}, err
	}
	return tasktx.Apply(ctx, e.project, id, task.RecordSearch{Round: req.Round, Agent: agent, Query: req.Query, Source: task.ByHand, By: e.project.By})
}
