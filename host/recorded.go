package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/policies"
)

// recordedRound is what the record of a decided round says of how it was decided.
type recordedRound struct {
	replay.Recorded
	// event is what the state machine was told, and decision what people are shown.
	event    recordedEvent
	decision recordedDecision
}

// recordedEvent is the part of a task.RoundDecided that the policy has to do with.
type recordedEvent struct {
	Round           int             `json:"round"`
	NextRound       int             `json:"next_round"`
	MaxRounds       int             `json:"max_rounds"`
	NextAction      string          `json:"next_action"`
	DestinationKind policies.Kind   `json:"kind"`
	Reason          string          `json:"reason"`
	FindingCount    int             `json:"finding_count"`
	Policy          string          `json:"policy"`
	Verify          policies.Verify `json:"verify"`
	Stalled         int             `json:"stalled"`
}

// recordedDecision is the same of a Decision. It has no texts of critics: they are
// most of a record, and are skipped over.
type recordedDecision struct {
	TaskID        string             `json:"task_id"`
	Round         int                `json:"round"`
	NextRound     int                `json:"next_round"`
	MaxRounds     int                `json:"max_rounds"`
	NextAction    string             `json:"next_action"`
	Stuck         bool               `json:"stuck"`
	Reason        string             `json:"reason"`
	NoProgress    bool               `json:"no_progress"`
	NewCount      int                `json:"new_count"`
	RepeatCount   int                `json:"repeat_count"`
	ReopenedCount int                `json:"reopened_count"`
	ResolvedCount int                `json:"resolved_count"`
	StalledRounds int                `json:"stalled_rounds"`
	Findings      []recordedFinding  `json:"findings"`
	Input         *policies.Input    `json:"input"`
	Policy        *policies.Identity `json:"policy"`
}

type recordedFinding struct {
	Category        string `json:"category"`
	Route           string `json:"route"`
	UnknownCategory bool   `json:"unknown_category"`
}

// readRound reads the event of a decided round, which must be what its hash was made
// of.
func readRound(e ledger.Event) (recordedRound, error) {
	if e.Hash != e.Sum() {
		return recordedRound{}, tampered(e.Task, "event %d is not what its hash was made of", e.N)
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
		return recordedRound{}, tampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	d := body.Decision
	r := recordedRound{
		Recorded: replay.Recorded{
			Seq: e.Seq, N: e.N, Task: e.Task, Round: d.Round, At: e.At,
			Input: *d.Input, Categories: categories(d.Findings),
			Decision: policies.Decision{NextAction: d.NextAction, Reason: d.Reason}, Policy: *d.Policy,
		},
		event: *body.Event, decision: *d,
	}
	if err := r.agree(); err != nil {
		return recordedRound{}, tampered(e.Task, "event %d contradicts itself: %w", e.N, err)
	}
	return r, nil
}

// agree fails where a record contradicts itself: what the state machine was told,
// what people are shown, and what the policy saw must be the same.
func (r recordedRound) agree() error {
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
		{"policy", e.Policy, named(r.Policy)},
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

// categories counts findings by how they were sent where. It reorders them.
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
