package round

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Audit records a manual attestation that an agent ran in the task's round, and checks it
// against the search-before-write rule.
func (e *Engine) Audit(ctx context.Context, id string, req api.AuditRequest) (api.StampResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.StampResult{}, err
	}
	var known task.Stamp
	status, event, err := e.update(ctx, id, func(tx *taskTx) (task.Command, event.Full, error) {
		known, err = tx.findStamp(ctx, req.Agent, req.Run)
		return task.StampAgent{
			Round: req.Round, Agent: req.Agent, Source: task.ByHand, By: e.by, Run: req.Run, Tools: req.Tools,
			Audited: config.Audit.Agents, SearchTools: config.Audit.SearchTools, Known: known.Agent != "",
		}, event.Full{}, err
	})
	if err != nil {
		return api.StampResult{}, err
	}
	a := api.StampResult{TaskResult: api.TaskResult{TaskStatus: status, Recorded: event}, Stamp: known}
	if event != nil {
		a.Stamp = status.Stamps[len(status.Stamps)-1]
	}
	return a, nil
}

// findStamp returns the attestation of an agent's run in any round, or the zero Stamp. A
// run attested once is not evidence for another round.
func (tx *taskTx) findStamp(ctx context.Context, agent, run string) (stamp task.Stamp, err error) {
	if run == "" {
		return stamp, nil
	}
	key := runKey(agent, run)
	entries, err := tx.ledger.Entries(ctx, tx.id, []string{key})
	if err != nil || entries[key] == nil {
		return stamp, err
	}
	if err := json.Unmarshal(entries[key], &stamp); err != nil {
		return stamp, errTampered(tx.id, "%s cannot be read: %w", key, err)
	}
	return stamp, nil
}

// Search records, as a manual claim, that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req api.SearchRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	return e.apply(ctx, id, task.RecordSearch{Round: req.Round, Agent: req.Agent, Query: req.Query, Source: task.ByHand, By: e.by})
}

// Stamps lists every attestation of a task, oldest first.
func (e *Engine) Stamps(ctx context.Context, id string) ([]api.StampEntry, error) {
	tx, err := e.beginTx(ctx, id)
	defer tx.close()
	if err != nil {
		return nil, err
	}
	if tx.head.N == 0 {
		return nil, errTaskNotFound(id)
	}
	stamps := []api.StampEntry{}
	for e, err := range tx.ledger.Events(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if e.Kind != string(task.KindStamped) {
			continue
		}
		body, err := event.Decode(e)
		if err != nil {
			return nil, errTampered(id, "event %d cannot be read: %w", e.N, err)
		}
		stamps = append(stamps, api.StampEntry{Stamp: body.Event.(*task.AgentStamped).Stamp, At: e.At, Event: api.EventRef{N: e.N, Hash: e.Hash}})
	}
	return stamps, nil
}
