package record

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Summarize reads every task's state and events once. Tasks that change meanwhile count
// either as before or as after. A task that cannot be read is skipped and listed. rounds is
// the number of rounds that the histogram begins with.
func Summarize(ctx context.Context, l *ledger.Ledger, rounds int) (api.Summary, error) {
	sum := api.Summary{
		Routes:     map[string]int{"executor": 0, "researcher": 0, "askuser": 0, "plan-checker": 0, "stuck": 0, "commit": 0},
		Categories: map[string]int{}, Histogram: map[int]int{},
	}
	for round := 1; round <= rounds; round++ {
		sum.Histogram[round] = 0
	}
	for head, err := range l.Heads(ctx) {
		if err != nil {
			return api.Summary{}, err
		}
		if isChain(head.Task) {
			continue
		}
		s, err := status(head)
		var categories map[string]int
		if err == nil {
			categories, err = (&Task{Ledger: l, ID: head.Task}).findingCategories(ctx)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.LedgerTampered {
			sum.Unreadable = append(sum.Unreadable, api.UnreadableTask{TaskID: head.Task, Code: f.Code, Message: f.Message})
			continue
		}
		if err != nil {
			return api.Summary{}, err
		}
		addToSummary(&sum, s.State, categories)
	}
	if sum.Tasks > 0 {
		sum.Average = math.Round(100*float64(sum.Rounds)/float64(sum.Tasks)) / 100
	}
	return sum, nil
}

func addToSummary(sum *api.Summary, s task.State, categories map[string]int) {
	sum.Tasks++
	sum.Rounds += s.Round
	sum.Histogram[s.Round]++
	sum.Overrides += s.Overrides
	for category, n := range categories {
		sum.Categories[category] += n
	}
	switch {
	case s.Status == task.Stuck:
		sum.Stuck++
		sum.Routes["stuck"]++
	case s.Status == task.Committed:
		sum.Committed++
		sum.Routes["commit"]++
	case s.Last != nil:
		sum.Routes[s.Last.NextAction]++
	}
}

// findingCategories counts a task's findings by category. If a round has several reviews,
// only the latest counts, since all saw the same round.
func (r *Task) findingCategories(ctx context.Context) (map[string]int, error) {
	rounds := make(map[int][]event.Finding)
	for e, err := range r.Events(ctx, 1, task.KindDecided, task.KindStopped) {
		if err != nil {
			return nil, err
		}
		switch change := e.Event.(type) {
		case *task.RoundDecided:
			if change.Reviewed {
				rounds[change.Round] = e.DecisionOrZero().Findings
			}
		case *task.WorkStopped:
			if e.Findings != nil {
				rounds[change.Stop.Round] = e.Findings
			}
		}
	}
	categories := make(map[string]int)
	for _, found := range rounds {
		for _, f := range found {
			categories[f.Category]++
		}
	}
	return categories, nil
}

// CriticFailures returns, by task id, the reason why the critic's last run failed, if the
// task is stuck because of that.
func CriticFailures(ctx context.Context, l *ledger.Ledger, ids []string) (map[string]string, error) {
	failures := make(map[string]string)
	for _, id := range ids {
		head, err := l.Head(ctx, id)
		if err != nil {
			return nil, err
		}
		s, err := status(head)
		if err != nil {
			continue // ledger verify reports it.
		}
		if reason := s.criticFailure(); reason != "" {
			failures[id] = reason
		}
	}
	return failures, nil
}

// Tasks lists every task by id.
func Tasks(ctx context.Context, l *ledger.Ledger) ([]api.TaskStatus, error) {
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
				tasks[i] = now.Public()
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

// All yields every task by id. It ends at the first error.
func All(ctx context.Context, l *ledger.Ledger) iter.Seq2[*Task, error] {
	return func(yield func(*Task, error) bool) {
		for head, err := range l.Heads(ctx) {
			if isChain(head.Task) {
				continue
			}
			r := &Task{Ledger: l, ID: head.Task, Head: head}
			if err == nil {
				r.Status, err = status(head)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
