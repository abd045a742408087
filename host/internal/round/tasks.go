package round

import (
	"context"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Tasks lists every task of the project by id.
func (e *Engine) Tasks(ctx context.Context) ([]api.TaskStatus, error) {
	l, err := e.OpenLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	// Decoding takes as long as reading, so that both go on side by side.
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

// batchSize is how many tasks are decoded at a time.
const batchSize = 256

// batch is some tasks, one after another in the order of their ids.
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

// joined lists the tasks of all batches, or returns the first error of any.
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
