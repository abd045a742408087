package host

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/task"
)

// kindDecided is the ledger's kind of the event that a round was decided.
const kindDecided = "round-decided"

// decidedBody is the body of that event. The decision holds the policy's whole
// input and every digest that led to it, so that it can be replayed.
type decidedBody struct {
	Event    task.Decided `json:"event"`
	Decision Decision     `json:"decision"`
}

// TaskStatus is where a task stands, as the ledger's projection keeps it.
type TaskStatus struct {
	TaskID string `json:"task_id"`
	task.State
	// UpdatedAt is the time of the newest event, RFC 3339 in UTC.
	UpdatedAt string `json:"updated_at"`
}

// fold applies an event to a task's projection.
func fold(state []byte, e ledger.Event) ([]byte, error) {
	var s TaskStatus
	if state != nil {
		if err := json.Unmarshal(state, &s); err != nil {
			return nil, fmt.Errorf("read state: %w", err)
		}
	}
	if e.Kind != kindDecided {
		return nil, fmt.Errorf("unknown kind of event %q", e.Kind)
	}
	var body struct {
		Event task.Decided `json:"event"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	next, err := task.Apply(s.State, body.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(TaskStatus{TaskID: e.Task, State: next, UpdatedAt: e.At}, json.Deterministic(true))
}

// ledger opens the project's ledger. One that does not exist yet reads as empty
// and is created by the first event.
func (e *Engine) ledger(ctx context.Context) (*ledger.Ledger, error) {
	return ledger.Open(ctx, e.project.State(), fold)
}
