package policyset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// decisionRecord is the part of a recorded decision that replay and verification need.
type decisionRecord struct {
	replay.Recorded
	// event is the state machine's event, and stuck the value shown to users.
	event *task.RoundDecided
	stuck bool
}

// readDecision reads the event of a decision, whose hash must match.
func readDecision(e ledger.Event) (decisionRecord, error) {
	if e.Hash != e.Sum() {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d is not what its hash was made of", e.N)
	}
	body, err := event.Decode(e)
	d := body.DecisionOrZero()
	decided, isDecision := body.Event.(*task.RoundDecided)
	switch {
	case err != nil:
	case !isDecision || d.Input == nil || d.Policy == routing.Identity{}:
		err = errors.New("it lacks the decision, or what led to it")
	case d.TaskID != e.Task:
		err = fmt.Errorf("it is a decision about task %.80q", d.TaskID)
	}
	if err != nil {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	if err := checkCopies(*decided, d, *d.Input); err != nil {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d contradicts itself: %w", e.N, err)
	}
	return decisionRecord{
		Recorded: replay.Recorded{
			Seq: e.Seq, N: e.N, Task: e.Task, Round: d.Round, At: e.At,
			Input: *d.Input, Categories: categories(d.Findings),
			Decision: routing.Decision{NextAction: d.NextAction, Reason: d.Reason}, Policy: d.Policy,
		},
		event: decided, stuck: d.Stuck,
	}, nil
}

// checkCopies fails if a record contradicts itself: the state machine's event, the shown
// decision and the policy's input repeat some fields.
func checkCopies(e task.RoundDecided, d event.Decision, in routing.Input) error {
	for _, p := range []struct {
		field string
		a, b  any
	}{
		{"round", e.Round, in.Round},
		{"next_round", e.NextRound, d.NextRound},
		{"max_rounds", e.MaxRounds, in.MaxRounds},
		{"max_rounds", d.MaxRounds, in.MaxRounds},
		{"finding_count", e.FindingCount, in.FindingCount},
		{"verify", routing.Verify(e.Verify), in.Verify},
		{"next_action", e.NextAction, d.NextAction},
		{"reason", e.Reason, d.Reason},
		{"policy", e.Policy, nameOf(d.Policy)},
		{"progress", fmt.Sprint(d.Progress), fmt.Sprint(api.ProgressOf(in))},
		{"stalled_rounds", e.Stalled, in.StalledRounds},
	} {
		if p.a != p.b {
			return fmt.Errorf("%s is %.80v in one place and %.80v in another", p.field, p.a, p.b)
		}
	}
	return nil
}

// categories counts findings by category and route.
func categories(findings []event.Finding) []replay.Category {
	all := make([]replay.Category, len(findings))
	for i, f := range findings {
		all[i] = replay.Category{Name: f.Category, Route: f.Route, Unknown: f.UnknownCategory, Count: 1}
	}
	slices.SortStableFunc(all, func(a, b replay.Category) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Route, b.Route))
	})
	counted := all[:0]
	for _, c := range all {
		if n := len(counted) - 1; n >= 0 && counted[n].Name == c.Name && counted[n].Route == c.Route && counted[n].Unknown == c.Unknown {
			counted[n].Count++
			continue
		}
		counted = append(counted, c)
	}
	return counted
}

func errTaskTampered(id, format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of task "+id+" was changed: "+format, args...).With("task", id)
}
