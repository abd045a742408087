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
	defer tx.close()
	if err != nil {
		return api.AttestationResult{}, err
	}
	result, err := tx.update(ctx, func(tx *taskTx) (task.Command, event.Full, error) {
		known, err := tx.findAttestation(ctx, req.Agent, req.Run)
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
	known, err := tx.findAttestation(ctx, req.Agent, req.Run)
	return api.AttestationResult{TaskResult: result, Attestation: known}, err
}

// findAttestation returns the attestation of an agent's run in any round, or none. A
// run attested once is not evidence for another round.
func (tx *taskTx) findAttestation(ctx context.Context, agent, run string) (attestation task.Attestation, err error) {
	if run == "" {
		return attestation, nil
	}
	known, err := entry[task.Attestation](ctx, &tx.taskRecord, runKey(agent, run))
	if known != nil {
		attestation = *known
	}
	return attestation, err
}

// Search records, as a manual claim, that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req api.SearchRequest) (api.TaskResult, error) {
	if err := e.inside(); err != nil {
		return api.TaskResult{}, err
	}
	return e.apply(ctx, id, task.RecordSearch{Round: req.Round, Agent: req.Agent, Query: req.Query, Source: task.ByHand, By: e.by})
}

// Attestations lists every attestation of a task, oldest first.
func (e *Engine) Attestations(ctx context.Context, id string) ([]api.AttestationEntry, error) {
	r, err := e.readTask(ctx, id)
	defer r.close()
	if err != nil {
		return nil, err
	}
	attestations := []api.AttestationEntry{}
	for e, err := range r.events(ctx, 1, task.KindAttested) {
		if err != nil {
			return nil, err
		}
		attestations = append(attestations, api.AttestationEntry{
			Attestation: e.Event.(*task.AgentAttested).Attestation, At: e.stored.At, Event: api.EventRef{N: e.stored.N, Hash: e.stored.Hash},
		})
	}
	return attestations, nil
}
