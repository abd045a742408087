package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Audit records a manual attestation that an agent ran in the task's round, and checks it
// against the search-before-write rule.
func (e *Engine) Audit(ctx context.Context, id string, req api.AuditRequest) (api.AttestationResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.AttestationResult{}, err
	}
	tx, err := e.beginTx(ctx, id)
	if err != nil {
		return api.AttestationResult{}, err
	}
	defer tx.Close()
	result, err := tx.update(ctx, func(tx *taskTx) (task.Command, event.Full, error) {
		known, err := tx.Attestation(ctx, req.Agent, req.Run)
		return task.AttestAgent{
			Round: req.Round, Agent: req.Agent, Source: task.ByHand, By: e.by, Run: req.Run, Tools: req.Tools,
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

// Search records, as a manual claim, that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req api.SearchRequest) (api.TaskResult, error) {
	if err := e.inside(); err != nil {
		return api.TaskResult{}, err
	}
	return e.apply(ctx, id, task.RecordSearch{Round: req.Round, Agent: req.Agent, Query: req.Query, Source: task.ByHand, By: e.by})
}
