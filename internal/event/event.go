// Package event defines the bodies of the ledger's events about tasks.
//
// There is one layout, Body, and two views of it: Full is written, and read by what
// shows people a decision; Facts leaves out the critics' texts, which are most of a
// body, and is read by folds, counters and replay. The encoding is part of the hash
// chains, so the names and the order of the fields never change.
package event

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Body is the body of an event: what the state machine made of a command, and what led
// to it. D is how much of a decision it has, and F how much of a finding.
type Body[D, F any] struct {
	// By is the user or program that gave the command.
	By string `json:"by"`
	// Before is the digest of the task's state that the command saw. It is "" for a new
	// task, and for an event that is recorded together with an earlier one. It leaves a
	// trace of a state that was changed by hand, although the event replaces that state.
	Before string `json:"before,omitzero"`
	// Base is the commit that the draft is compared with from now on, "" for no change.
	Base string `json:"base,omitzero"`
	// Prompt is the task in its author's words from now on, "" for no change.
	Prompt string `json:"prompt,omitzero"`
	// Event is what the state machine folds. After decoding it is a pointer.
	Event task.Event `json:"event"`
	// Decision is set if a round was decided. It holds the policy's whole input and
	// every digest that led to it, so that it can be replayed.
	Decision *D `json:"decision,omitzero"`
	// Verification is set if a draft was verified green.
	Verification *api.Verification `json:"verification,omitzero"`
	// Spawn is set if an agent's run has ended.
	Spawn *outcome.Record `json:"spawn,omitzero"`
	// Findings are those that a person stopped the task with, or that it was imported
	// with. An empty list differs from nil: it replaces the open findings.
	Findings []F `json:"findings,omitzero"`
	// Timing is set if a round was decided. It is not part of the decision, because the
	// same evidence takes a different time on each reading.
	Timing *Timing `json:"timing,omitzero"`
	// Limits are the budgets of the runs that begin, nil for none.
	Limits *task.Limits `json:"limits,omitzero"`
	// Budget is the unit of the budget that stopped the task.
	Budget string `json:"budget,omitzero"`
}

// The views of a body.
type (
	Full  = Body[api.Decision, finding.Finding]
	Facts = Body[Decision, Finding]
)

// Decision is the part of an api.Decision that folds, counters and replay need.
type Decision struct {
	TaskID        string           `json:"task_id"`
	Round         int              `json:"round"`
	NextRound     int              `json:"next_round"`
	MaxRounds     int              `json:"max_rounds"`
	NextAction    string           `json:"next_action"`
	Stuck         bool             `json:"stuck"`
	Reason        string           `json:"reason"`
	NoProgress    bool             `json:"no_progress"`
	NewCount      int              `json:"new_count"`
	RepeatCount   int              `json:"repeat_count"`
	ReopenedCount int              `json:"reopened_count"`
	ResolvedCount int              `json:"resolved_count"`
	StalledRounds int              `json:"stalled_rounds"`
	Findings      []Finding        `json:"findings"`
	Input         *routing.Input   `json:"input"`
	Policy        routing.Identity `json:"policy"`
}

// Finding is the part of a finding.Finding that folds, counters and replay need.
type Finding struct {
	Fingerprint     string `json:"fingerprint"`
	Category        string `json:"category"`
	Severity        string `json:"severity"`
	Route           string `json:"route"`
	UnknownCategory bool   `json:"unknown_category"`
}

// Timing is how long the parts of a decision took, in microseconds of a monotonic clock.
type Timing struct {
	Plugins      []PluginTiming `json:"plugins,omitzero"`
	PolicyMicros int64          `json:"policy_us"`
}

// PluginTiming is how long a plugin took for a report.
type PluginTiming struct {
	Plugin string `json:"plugin"`
	Micros int64  `json:"us"`
}

// Encode returns the JSON of a body. Strings may hold any bytes, as a user typed them.
func (b Body[D, F]) Encode() ([]byte, error) {
	return json.Marshal(b, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// DecisionOrZero returns the decision, or its zero value if the event has none.
func (b Body[D, F]) DecisionOrZero() D {
	if b.Decision == nil {
		var none D
		return none
	}
	return *b.Decision
}

// Decode reads the body of an event as far as folds, counters and replay need it.
func Decode(e ledger.Event) (Facts, error) { return decode[Decision, Finding](e) }

// DecodeFull reads the whole body of an event.
func DecodeFull(e ledger.Event) (Full, error) { return decode[api.Decision, finding.Finding](e) }

func decode[D, F any](e ledger.Event) (Body[D, F], error) {
	b := Body[D, F]{Event: task.NewEvent(task.Kind(e.Kind))}
	if b.Event == nil {
		return b, fmt.Errorf("unknown kind of event %q", e.Kind)
	}
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return b, fmt.Errorf("read event: %w", err)
	}
	return b, nil
}

// The chain of the ledger that records the rounds in which a plugin or the policy broke,
// and the kind of its events. A failure leaves its task as it was, so it is not an event
// of the task's own chain.
const (
	FailuresChain     = "_failures"
	KindFailed        = "round-failed"
	MaxFailureMessage = 500 // bytes
)

// Failure is the body of an event in the chain of failures.
type Failure struct {
	By   string    `json:"by"`
	Task string    `json:"task"`
	Code errs.Code `json:"code"`
	// Plugin is the faulty one, "" if the policy broke.
	Plugin string `json:"plugin,omitzero"`
	// Message is the error's, at most MaxFailureMessage long.
	Message string `json:"message"`
}
