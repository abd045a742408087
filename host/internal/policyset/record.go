package policyset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// decisionRecord is the part of a recorded decision that replaying and verifying it
// needs.
type decisionRecord struct {
	replay.Recorded
	// event is what the state machine folds, and decision is what users see.
	event    recordedEvent
	decision recordedDecision
}

// recordedEvent is the part of a task.RoundDecided that concerns the policy.
type recordedEvent struct {
	Round           int            `json:"round"`
	NextRound       int            `json:"next_round"`
	MaxRounds       int            `json:"max_rounds"`
	NextAction      string         `json:"next_action"`
	DestinationKind routing.Kind   `json:"kind"`
	Reason          string         `json:"reason"`
	FindingCount    int            `json:"finding_count"`
	Policy          string         `json:"policy"`
	Verify          routing.Verify `json:"verify"`
	Stalled         int            `json:"stalled"`
}

// recordedDecision is the part of a Decision that replay needs; finding texts, which
// are most of a record, are not decoded.
type recordedDecision struct {
	TaskID        string            `json:"task_id"`
	Round         int               `json:"round"`
	NextRound     int               `json:"next_round"`
	MaxRounds     int               `json:"max_rounds"`
	NextAction    string            `json:"next_action"`
	Stuck         bool              `json:"stuck"`
	Reason        string            `json:"reason"`
	NoProgress    bool              `json:"no_progress"`
	NewCount      int               `json:"new_count"`
	RepeatCount   int               `json:"repeat_count"`
	ReopenedCount int               `json:"reopened_count"`
	ResolvedCount int               `json:"resolved_count"`
	StalledRounds int               `json:"stalled_rounds"`
	Findings      []recordedFinding `json:"findings"`
	Input         *routing.Input    `json:"input"`
	Policy        *routing.Identity `json:"policy"`
}

type recordedFinding struct {
	Category        string `json:"category"`
	Route           string `json:"route"`
	UnknownCategory bool   `json:"unknown_category"`
}

// readDecision reads the event of a decision, which must match its hash.
func readDecision(e ledger.Event) (decisionRecord, error) {
	if e.Hash != e.Sum() {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d is not what its hash was made of", e.N)
	}
	var body struct {
		Event    *recordedEvent    `json:"event"`
		Decision *recordedDecision `json:"decision"`
	}
	err := json.Unmarshal(e.Body, &body)
	if err == nil && (body.Event == nil || body.Decision == nil || body.Decision.Input == nil || body.Decision.Policy == nil) {
		err = errors.New("it lacks the decision, or what led to it")
	}
	if err == nil && body.Decision.TaskID != e.Task {
		err = fmt.Errorf("it is a decision about task %.80q", body.Decision.TaskID)
	}
	if err != nil {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	d := body.Decision
	r := decisionRecord{
		Recorded: replay.Recorded{
			Seq: e.Seq, N: e.N, Task: e.Task, Round: d.Round, At: e.At,
			Input: *d.Input, Categories: categories(d.Findings),
			Decision: routing.Decision{NextAction: d.NextAction, Reason: d.Reason}, Policy: *d.Policy,
		},
		event: *body.Event, decision: *d,
	}
	if err := r.agree(); err != nil {
		return decisionRecord{}, errTaskTampered(e.Task, "event %d contradicts itself: %w", e.N, err)
	}
	return r, nil
}

// agree fails if a record contradicts itself: the state machine's event, the shown
// decision and the policy's input must agree.
func (r decisionRecord) agree() error {
	in, e, d := r.Input, r.event, r.decision
	for _, p := range []struct {
		field      string
		shown, was any
	}{
		{"round", e.Round, in.Round},
		{"next_round", e.NextRound, d.NextRound},
		{"max_rounds", e.MaxRounds, in.MaxRounds},
		{"max_rounds", d.MaxRounds, in.MaxRounds},
		{"finding_count", e.FindingCount, in.FindingCount},
		{"verify", e.Verify, in.Verify},
		{"next_action", e.NextAction, d.NextAction},
		{"reason", e.Reason, d.Reason},
		{"policy", e.Policy, nameOf(r.Policy)},
		{"new_count", d.NewCount, in.NewCount},
		{"repeat_count", d.RepeatCount, in.RepeatCount},
		{"reopened_count", d.ReopenedCount, in.ReopenedCount},
		{"resolved_count", d.ResolvedCount, in.ResolvedCount},
		{"no_progress", d.NoProgress, in.NoProgress},
		{"stalled_rounds", d.StalledRounds, in.StalledRounds},
		{"stalled_rounds", e.Stalled, in.StalledRounds},
	} {
		if p.shown != p.was {
			return fmt.Errorf("%s is %.80v in one place and %.80v in another", p.field, p.shown, p.was)
		}
	}
	return nil
}

func errTaskTampered(id, format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of task "+id+" was changed: "+format, args...).With("task", id)
}

// categories counts findings by category and route. It reorders them.
func categories(findings []recordedFinding) []replay.Category {
	slices.SortStableFunc(findings, func(a, b recordedFinding) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Route, b.Route))
	})
	var list []replay.Category
	for i, f := range findings {
		if i > 0 && f == findings[i-1] {
			list[len(list)-1].Count++
			continue
		}
		list = append(list, replay.Category{Name: f.Category, Route: f.Route, Unknown: f.UnknownCategory, Count: 1})
	}
	return list
}
