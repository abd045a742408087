package round

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Summary reads every task's state and events once. Tasks that change meanwhile count
// either as before or as after. A task that cannot be read is skipped and listed.
//
// # Errors
//
// Those of the configuration and of the ledger.
func (e *Engine) Summary(ctx context.Context) (api.Summary, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return api.Summary{}, err
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return api.Summary{}, err
	}
	defer l.Close()
	sum := newSummary(cmp.Or(config.MaxRounds, task.DefaultRounds))
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
			categories, err = (&taskRecord{ledger: l, id: head.Task}).findingCategories(ctx)
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

func newSummary(rounds int) api.Summary {
	sum := api.Summary{
		Routes:     map[string]int{"executor": 0, "researcher": 0, "askuser": 0, "plan-checker": 0, "stuck": 0, "commit": 0},
		Categories: map[string]int{}, Histogram: map[int]int{},
	}
	for round := 1; round <= rounds; round++ {
		sum.Histogram[round] = 0
	}
	return sum
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
func (r *taskRecord) findingCategories(ctx context.Context) (map[string]int, error) {
	rounds := make(map[int][]event.Finding)
	for e, err := range r.events(ctx, 1, task.KindDecided, task.KindStopped) {
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

// CriticFailures returns, by task id, the reason why the critic's last run failed, for
// those tasks that are stuck because of it.
//
// # Errors
//
// Those of the ledger.
func (e *Engine) CriticFailures(ctx context.Context, ids []string) (map[string]string, error) {
	failures := make(map[string]string)
	if len(ids) == 0 {
		return failures, nil
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
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

// criticFailure returns why the critic's last run failed, if the task is stuck because of
// it, else "".
func (k storedStatus) criticFailure() string {
	if k.Stop == nil || k.Stop.Reason != "stuck-finding" {
		return ""
	}
	for _, run := range slices.Backward(k.Runs) {
		if run.Role == task.RoleCritic && run.Round == k.Stop.Round && run.Receipt != nil {
			if run.Receipt.Outcome == outcome.CriticError {
				return string(run.Receipt.Reason)
			}
			return ""
		}
	}
	return ""
}

// Counters reads counters of the project's ledger as of one moment. It opens the ledger
// each time, so that a long-running caller sees a replaced ledger.
func (e *Engine) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	// Read-only, unless the ledger is too old to have counters.
	t, err := readCounters(ctx, func() (*ledger.Ledger, error) { return ledger.Open(ctx, e.project.State(), nil) }, queries)
	if errs.CodeOf(err) == errs.LedgerOlder {
		return readCounters(ctx, func() (*ledger.Ledger, error) { return e.openLedger(ctx) }, queries)
	}
	return t, err
}

func readCounters(ctx context.Context, open func() (*ledger.Ledger, error), queries []ledger.CounterQuery) (ledger.Counters, error) {
	l, err := open()
	if err != nil {
		return ledger.Counters{}, err
	}
	defer l.Close()
	return l.Counters(ctx, queries...)
}
