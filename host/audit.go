package host

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Audit stamps by hand that an agent ran in the task's round, and holds it
// against rule 9.
func (e *Engine) Audit(ctx context.Context, id string, req AuditRequest) (StampResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return StampResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return StampResult{}, err
	}
	var known task.Stamp
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, event.Full, error) {
		known, err = s.stamped(ctx, req.Agent, req.Run)
		return task.StampAgent{
			Round: req.Round, Agent: req.Agent, Source: task.ByHand, By: e.by, Run: req.Run, Tools: req.Tools,
			Audited: config.Audit.Agents, SearchTools: config.Audit.SearchTools, Known: known.Agent != "",
		}, event.Full{}, err
	})
	if err != nil {
		return StampResult{}, err
	}
	a := StampResult{TaskResult: TaskResult{TaskStatus: status, Recorded: event}, Stamp: known}
	if event != nil {
		a.Stamp = status.Stamps[len(status.Stamps)-1]
	}
	return a, nil
}

// stamped returns the stamp of an agent's run, or the zero Stamp: in whichever
// round it was stamped, it is no evidence for another.
func (s *session) stamped(ctx context.Context, agent, run string) (stamp task.Stamp, err error) {
	if run == "" {
		return stamp, nil
	}
	key := runKey(agent, run)
	entries, err := s.ledger.Entries(ctx, s.id, []string{key})
	if err != nil || entries[key] == nil {
		return stamp, err
	}
	if err := json.Unmarshal(entries[key], &stamp); err != nil {
		return stamp, tampered(s.id, "%s cannot be read: %w", key, err)
	}
	return stamp, nil
}

// Search records by hand that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req SearchRequest) (TaskResult, error) {
	return e.step(ctx, id, task.RecordSearch{Round: req.Round, Agent: req.Agent, Query: req.Query, Source: task.ByHand, By: e.by})
}

// Stamps lists every stamp of a task, oldest first.
func (e *Engine) Stamps(ctx context.Context, id string) ([]StampEntry, error) {
	s, err := e.begin(ctx, id)
	defer s.close()
	if err != nil {
		return nil, err
	}
	if s.head.N == 0 {
		return nil, notFound(id)
	}
	stamps := []StampEntry{}
	for e, err := range s.ledger.Events(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if e.Kind != string(task.KindStamped) {
			continue
		}
		body, err := event.Decode(e)
		if err != nil {
			return nil, tampered(id, "event %d cannot be read: %w", e.N, err)
		}
		stamps = append(stamps, StampEntry{Stamp: body.Event.(*task.AgentStamped).Stamp, At: e.At, Event: EventRef{N: e.N, Hash: e.Hash}})
	}
	return stamps, nil
}
