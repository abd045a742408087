package host

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Summary is what all tasks of a project came to. Committed tasks are part of it
// for ever.
type Summary struct {
	// Tasks counts those that could be read; the other numbers are theirs.
	Tasks int
	// Rounds adds up the rounds that the tasks are in, and Average is their mean
	// with two decimals, 0 without a task.
	Rounds  int
	Average float64
	// Stuck and Committed count the tasks of these statuses.
	Stuck, Committed int
	// Routes counts the tasks by where they were sent last: by their newest
	// decision, or by the person who put them aside. Those of the routing policy
	// are always there.
	Routes map[string]int
	// Categories counts the findings of every round, as its newest review or the
	// person who put the task aside then left them.
	Categories map[string]int
	// Histogram counts the tasks by the round that they are in. The rounds up to
	// the project's cap are always there.
	Histogram map[int]int
	// Overrides counts the gates that were ever forced.
	Overrides int
	// Unreadable are the tasks whose record was changed, by id.
	Unreadable []Unreadable
}

// Unreadable is a task whose record was changed so that it cannot be read.
type Unreadable struct {
	TaskID string
	Err    *errs.Error
}

// Summary reads every task's state and events once. Tasks that change meanwhile
// count as they were or as they are. A task that cannot be read is left out and
// listed.
//
// # Errors
//
// Those of the configuration and of the ledger.
func (e *Engine) Summary(ctx context.Context) (Summary, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Summary{}, err
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return Summary{}, err
	}
	defer l.Close()
	sum := newSummary(cmp.Or(config.MaxRounds, task.DefaultRounds))
	for head, err := range l.Heads(ctx) {
		if err != nil {
			return Summary{}, err
		}
		if isChain(head.Task) {
			continue
		}
		s, err := status(head)
		var categories map[string]int
		if err == nil {
			categories, err = findingCategories(ctx, l, head.Task)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.LedgerTampered {
			sum.Unreadable = append(sum.Unreadable, Unreadable{TaskID: head.Task, Err: f})
			continue
		}
		if err != nil {
			return Summary{}, err
		}
		sum.add(s.State, categories)
	}
	if sum.Tasks > 0 {
		sum.Average = math.Round(100*float64(sum.Rounds)/float64(sum.Tasks)) / 100
	}
	return sum, nil
}

func newSummary(rounds int) Summary {
	sum := Summary{
		Routes:     map[string]int{"executor": 0, "researcher": 0, "askuser": 0, "plan-checker": 0, "stuck": 0, "commit": 0},
		Categories: map[string]int{}, Histogram: map[int]int{},
	}
	for round := 1; round <= rounds; round++ {
		sum.Histogram[round] = 0
	}
	return sum
}

func (sum *Summary) add(s task.State, categories map[string]int) {
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

// findingCategories counts a task's findings by category. Of several reviews in
// one round only the newest counts: the others saw the same round.
func findingCategories(ctx context.Context, l *ledger.Ledger, id string) (map[string]int, error) {
	rounds := make(map[int][]categorized)
	for event, err := range l.Events(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		round, found, err := leftFindings(event)
		if err != nil {
			return nil, tampered(id, "event %d cannot be read: %w", event.N, err)
		}
		if found != nil {
			rounds[round] = found
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

// categorized is all that a summary reads of a finding.
type categorized struct {
	Category string `json:"category"`
}

// leftFindings are the findings that an event left a round with, nil where it
// says nothing of them.
func leftFindings(event ledger.Event) (round int, found []categorized, err error) {
	switch task.Kind(event.Kind) {
	case task.KindDecided:
		var body struct {
			Event    task.Decided `json:"event"`
			Decision struct {
				Findings []categorized `json:"findings"`
			} `json:"decision"`
		}
		if err := json.Unmarshal(event.Body, &body); err != nil {
			return 0, nil, err
		}
		if !body.Event.Reviewed {
			return 0, nil, nil
		}
		return body.Event.Round, append([]categorized{}, body.Decision.Findings...), nil
	case task.KindStopped:
		var body struct {
			Event    task.Stopped  `json:"event"`
			Findings []categorized `json:"findings"`
		}
		if err := json.Unmarshal(event.Body, &body); err != nil {
			return 0, nil, err
		}
		return body.Event.Stop.Round, body.Findings, nil
	default:
		return 0, nil, nil
	}
}

// CriticFailures says, for those of the tasks that are stuck because their critic came
// to nothing, what the critic's last run came to.
//
// # Errors
//
// Those of the ledger.
func (e *Engine) CriticFailures(ctx context.Context, ids []string) (map[string]string, error) {
	failures := make(map[string]string)
	if len(ids) == 0 {
		return failures, nil
	}
	l, err := e.ledger(ctx)
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
			continue // ledger verify says what was changed.
		}
		if reason := s.criticFailure(); reason != "" {
			failures[id] = reason
		}
	}
	return failures, nil
}

// criticFailure is what the last run of the critic came to, if the task is stuck
// because of it; else it is empty.
func (k kept) criticFailure() string {
	if k.Stop == nil || k.Stop.Reason != "stuck-finding" {
		return ""
	}
	for _, run := range slices.Backward(k.Runs) {
		if run.Role == task.RoleCritic && run.Round == k.Stop.Round && run.Receipt != nil {
			if run.Receipt.Outcome == string(outcome.CriticError) {
				return run.Receipt.Reason
			}
			return ""
		}
	}
	return ""
}
