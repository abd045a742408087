package round

import (
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
	if err := task.CheckID(id); err != nil {
		return api.TaskDetail{}, err
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return api.TaskDetail{}, err
	}
	defer l.Close()
	head, err := l.Head(ctx, id)
	if err != nil {
		return api.TaskDetail{}, err
	}
	now, err := existingStatus(id, head)
	if err != nil {
		return api.TaskDetail{}, err
	}
	t := api.TaskDetail{TaskStatus: now.public()}
	if path := handoffPath(id, now.Round); now.Status == task.Open && now.Last != nil && now.Last.NextRound == now.Round && e.rooted().Exists(path) {
		t.Handoff = &path
	}
	t.Findings, err = openFindings(ctx, l, now)
	return t, err
}

// existingStatus returns the status of a task, or task-not-found.
func existingStatus(id string, head ledger.Head) (storedStatus, error) {
	if head.N == 0 {
		return storedStatus{}, errTaskNotFound(id)
	}
	now, err := status(head)
	if err == nil && now.Status == task.NoTask {
		err = errTampered(id, "its events make no task")
	}
	return now, err
}

func errTaskNotFound(id string) error {
	return errs.New(errs.TaskNotFound, "nothing is recorded for task %s", id).With("task", id)
}

func status(head ledger.Head) (storedStatus, error) {
	var s storedStatus
	err := s.read(head)
	return s, err
}

// read decodes a task's projection into k, which must be empty. It checks the contents,
// because a ledger can be edited by hand or come with a repository.
func (k *storedStatus) read(head ledger.Head) error {
	err := json.Unmarshal(head.State, k)
	if err == nil {
		err = k.Check()
	}
	if err == nil && k.TaskID != head.Task {
		err = fmt.Errorf("the state of %q", k.TaskID)
	}
	if err != nil {
		return errTampered(head.Task, "its state is not that of its events: %w", err)
	}
	return nil
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
	// Decoding takes as long as reading, so they run concurrently.
	var batches []*batch
	var decoding sync.WaitGroup
	defer decoding.Wait()
	decode := func(heads []ledger.Head) {
		b := &batch{heads: heads}
		batches = append(batches, b)
		decoding.Go(b.decode)
	}
	var heads []ledger.Head
	for head, err := range l.Heads(ctx) {
		if err != nil {
			return nil, err
		}
		if isChain(head.Task) {
			continue
		}
		if heads = append(heads, head); len(heads) == batchSize {
			decode(heads)
			heads = nil
		}
	}
	decode(heads)
	decoding.Wait()
	return joined(batches)
}

// batchSize is the number of tasks decoded at a time.
const batchSize = 256

// batch is a run of tasks in the order of their ids.
type batch struct {
	heads []ledger.Head
	tasks []api.TaskStatus // as many as heads, unless there is an error
	err   error
}

func (b *batch) decode() {
	b.tasks = make([]api.TaskStatus, len(b.heads))
	for i, head := range b.heads {
		var k storedStatus
		if b.err = k.read(head); b.err != nil {
			return
		}
		b.tasks[i] = k.public()
	}
}

// joined returns the tasks of all batches, or the first error.
func joined(batches []*batch) ([]api.TaskStatus, error) {
	n := 0
	for _, b := range batches {
		if b.err != nil {
			return nil, b.err
		}
		n += len(b.tasks)
	}
	tasks := make([]api.TaskStatus, 0, n)
	for _, b := range batches {
		tasks = append(tasks, b.tasks...)
	}
	return tasks, nil
}
