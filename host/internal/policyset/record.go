package policyset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
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
			Input: *d.Input, BarInput: d.BarInput, PolicyBar: d.PolicyBar, Bar: d.Bar, Reviewed: decided.Reviewed, Confinement: d.Confinement,
			Categories: append(categories(d.Findings, false), categories(d.Deferred, true)...),
			Decision:   routing.Decision{NextAction: d.NextAction, Reason: d.Reason}, Policy: d.Policy,
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
		{"deferred", e.Deferred, len(d.Deferred)},
		{"bar", e.Bar, barOf(d, e.Bar)},
	} {
		if p.a != p.b {
			return fmt.Errorf("%s is %.80v in one place and %.80v in another", p.field, p.a, p.b)
		}
	}
	return nil
}

// barOf returns the bar that the state machine's event has for a decision. A policy without
// a bar keeps that of earlier reviews.
func barOf(d event.Decision, earlier string) string {
	switch d.Bar {
	case "":
		return earlier
	case routing.BarAll:
		return ""
	default:
		return string(d.Bar)
	}
}

// categories counts alike findings.
func categories(findings []event.Finding, deferred bool) []replay.Category {
	counts := make(map[replay.Category]int)
	for _, f := range findings {
		audited := slices.ContainsFunc(f.Sources, func(s event.Source) bool { return s.Critic == finding.AuditCritic })
		counts[replay.Category{
			Name: f.Category, Route: f.Route, Unknown: f.UnknownCategory, Severity: finding.Severity(f.Severity),
			Standing: task.FindingStatus(f.Standing), Audited: audited, Deferred: deferred,
		}]++
	}
	all := make([]replay.Category, 0, len(counts))
	for c, n := range counts {
		c.Count = n
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b replay.Category) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Standing, b.Standing))
	})
	return all
}

func errTaskTampered(id, format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of task "+id+" was changed: "+format, args...).With("task", id)
}
