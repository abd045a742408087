package host

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// AuditRequest says what an agent did that the host did not run itself.
type AuditRequest struct {
	// Round is the round that the agent ran in, 0 for the task's.
	Round int
	Agent string
	// Run identifies the run, "" where nobody knows: a run is stamped once.
	Run string
	// Tools are the names of the tools that it used, each as often as it did.
	Tools []string
}

// Audited is a stamp in its place.
type Audited struct {
	Step
	Stamp task.Stamp `json:"stamp"`
}

// Audit stamps by hand that an agent ran in the task's round, and holds it
// against rule 9.
func (e *Engine) Audit(ctx context.Context, id string, req AuditRequest) (Audited, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Audited{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Audited{}, err
	}
	var known task.Stamp
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, record, error) {
		known, err = s.stamped(ctx, req.Agent, req.Run)
		return task.Audit{
			Round: req.Round, Agent: req.Agent, Source: task.ByHand, By: e.by, Run: req.Run, Tools: req.Tools,
			Audited: config.Audit.Agents, SearchTools: config.Audit.SearchTools, Known: known.Agent != "",
		}, record{}, err
	})
	if err != nil {
		return Audited{}, err
	}
	a := Audited{Step: Step{TaskStatus: status, Recorded: event}, Stamp: known}
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

// SearchRequest says that an agent searched.
type SearchRequest struct {
	// Round is the round that it searched in, 0 for the task's.
	Round int
	// Agent is "" where nobody knows which it was.
	Agent, Query string
}

// Search records by hand that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req SearchRequest) (Step, error) {
	return e.step(ctx, id, task.Look{Round: req.Round, Agent: req.Agent, Query: req.Query, Source: task.ByHand, By: e.by})
}

// StampEntry is a stamp with its time.
type StampEntry struct {
	task.Stamp
	At    string `json:"at"`
	Event Event  `json:"event"`
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
	for event, err := range s.ledger.Events(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if event.Kind != string(task.KindStamped) {
			continue
		}
		var body struct {
			Event task.Stamped `json:"event"`
		}
		if err := json.Unmarshal(event.Body, &body); err != nil {
			return nil, tampered(id, "event %d cannot be read: %w", event.N, err)
		}
		stamps = append(stamps, StampEntry{Stamp: body.Event.Stamp, At: event.At, Event: Event{N: event.N, Hash: event.Hash}})
	}
	return stamps, nil
}
