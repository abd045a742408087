package round

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Task returns the status of one task, or task-not-found.
func (e *Engine) Task(ctx context.Context, id string) (api.TaskDetail, error) {
	r, err := e.readTask(ctx, id)
	defer r.close()
	if err != nil {
		return api.TaskDetail{}, err
	}
	t := api.TaskDetail{TaskStatus: r.status.public(), Handoff: e.currentHandoff(r.status)}
	if t.Sessions, err = r.sessionBlock(ctx); err != nil {
		return api.TaskDetail{}, err
	}
	body, err := r.findingsEvent(ctx)
	d := body.DecisionOrZero()
	t.Findings, t.Deferred = append(body.Findings, d.Findings...), d.Deferred
	return t, err
}

// currentHandoff returns the file with the executor's instructions for the task's round, nil
// for none.
func (e *Engine) currentHandoff(now storedStatus) *string {
	path := handoffPath(now.TaskID, now.Round, findingsFile)
	if now.Status == task.Open && now.Last != nil && now.Last.NextRound == now.Round && e.rooted().Exists(path) {
		return &path
	}
	return nil
}

func errTaskNotFound(id string) error {
	return errs.New(errs.TaskNotFound, "nothing is recorded for task %s", id).With("task", id)
}

// status decodes a task's projection. It checks the contents, because a ledger can be
// edited by hand or come with a repository.
func status(head ledger.Head) (s storedStatus, err error) {
	err = json.Unmarshal(head.State, &s)
	if err == nil {
		err = s.Check()
	}
	if err == nil && s.TaskID != head.Task {
		err = fmt.Errorf("the state of %q", s.TaskID)
	}
	if err != nil {
		return storedStatus{}, errTampered(head.Task, "its state is not that of its events: %w", err)
	}
	return s, nil
}

// errTampered returns the error of a ledger with contents that Switchyard never wrote.
func errTampered(id, format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of task "+id+" was changed: "+format, args...).With("task", id)
}

// Tasks lists every task of the project by id.
func (e *Engine) Tasks(ctx context.Context) ([]api.TaskStatus, error) {
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var heads []ledger.Head
	for head, err := range l.Heads(ctx) {
		if err != nil {
			return nil, err
		}
		if !isChain(head.Task) {
			heads = append(heads, head)
		}
	}
	// Decoding takes as long as reading.
	tasks := make([]api.TaskStatus, len(heads))
	failures := make([]error, len(heads)/batchSize+1)
	var batches sync.WaitGroup
	for batch := range failures {
		batches.Go(func() {
			for i := batch * batchSize; i < min((batch+1)*batchSize, len(heads)); i++ {
				now, err := status(heads[i])
				if err != nil {
					failures[batch] = err
					return
				}
				tasks[i] = now.public()
			}
		})
	}
	batches.Wait()
	if err := cmp.Or(failures...); err != nil {
		return nil, err
	}
	return tasks, nil
}

// batchSize is the number of tasks decoded by a goroutine.
const batchSize = 256
