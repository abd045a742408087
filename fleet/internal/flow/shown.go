package flow

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// MemoPosition is the entry of the memo with a task's last Position, without Step, Order and
// Queue, which change more often. Unlike a query, a memo can be read without a worker.
const MemoPosition = "position"

// ProjectAttribute is the search attribute with the project of a task.
func ProjectAttribute() temporal.SearchAttributeKeyKeyword {
	return temporal.NewSearchAttributeKeyKeyword("SwitchyardProject")
}

// StatusAttribute is the search attribute with the status of a task (see StatusOf).
func StatusAttribute() temporal.SearchAttributeKeyKeyword {
	return temporal.NewSearchAttributeKeyKeyword("SwitchyardStatus")
}

// StatusPending is the status of a task that has not begun.
const StatusPending = "pending"

// StatusOf returns the status that is shown for a position: ActionFailed, ActionBlocked, a
// task.Status or StatusPending.
func StatusOf(p Position) string {
	switch {
	case p.NextAction == ActionFailed, p.NextAction == ActionBlocked:
		return p.NextAction
	case p.Status == task.NoTask:
		return StatusPending
	default:
		return string(p.Status)
	}
}

// show writes a position into the memo, and its status into the search attribute, if they
// have changed.
func (t *tracker) show(ctx workflow.Context, p Position) {
	p.Step, p.Order, p.Queue = task.Step{}, "", ""
	if q := t.shown.Question; q != nil && p.Question != nil && q.Fingerprint == p.Question.Fingerprint {
		p.Question = q // The comparison below is of pointers.
	}
	if p == t.shown {
		return
	}
	status := StatusOf(p)
	isNew := status != StatusOf(t.shown)
	t.shown = p
	// Both only fail for values that cannot be encoded, and without values.
	_ = workflow.UpsertMemo(ctx, map[string]any{MemoPosition: p})
	if isNew {
		_ = workflow.UpsertTypedSearchAttributes(ctx, StatusAttribute().ValueSet(status))
	}
}
