// Package event defines the bodies of the ledger's events about tasks.
//
// Body has two views: Full is written, and read to show a decision; Facts is read by folds
// and counters, and omits the critics' texts, which are most of a body. Round is the part
// of the body of a decided round that replay needs. The encoding is part of the hash
// chains, so the names and the order of the fields must never change.
package event

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/compactjson"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Body is the body of an event: the change of the task's state and its causes. D is the
// type of its decision, and F the type of its findings.
type Body[D, F any] struct {
	// By is the user or program that ran the command.
	By string `json:"by"`
	// Before is the digest of the task's state before the command. It is "" for a new
	// task, and for an event recorded together with an earlier one. It shows that a state
	// was edited by hand, even after the event has replaced the state.
	Before string `json:"before,omitzero"`
	// Base is the new commit that the draft is compared with, "" for no change.
	Base string `json:"base,omitzero"`
	// Prompt is the new description of the task, in its author's words, "" for no change.
	Prompt string `json:"prompt,omitzero"`
	// Event is the state machine's event. After decoding it is a pointer.
	Event task.Event `json:"event"`
	// Decision is set if a round was decided. It has the policy's whole input and all digests
	// of the evidence, so that it can be replayed.
	Decision *D `json:"decision,omitzero"`
	// Verification is set if a draft was verified green.
	Verification *api.Verification `json:"verification,omitzero"`
	// Spawn is set if an agent's run has ended.
	Spawn *outcome.Record `json:"spawn,omitzero"`
	// Findings are the findings of a manual stop or an import. An empty list differs from
	// nil: it replaces the open findings.
	Findings []F `json:"findings,omitzero"`
	// Timing is set if a round was decided. It is not part of the decision, because it
	// differs each time the same evidence is read.
	Timing *Timing `json:"timing,omitzero"`
	// Limits are the budgets of the runs that begin, or nil.
	Limits *task.Limits `json:"limits,omitzero"`
	// Budget is the unit of the budget that stopped the task.
	Budget string `json:"budget,omitzero"`
}

// Views of a body.
type (
	Full  = Body[api.Decision, finding.Finding]
	Facts = Body[Decision, Finding]
)

// DecisionFields are the fields of an api.Decision that both views below have.
type DecisionFields struct {
	TaskID     string `json:"task_id"`
	Round      int    `json:"round"`
	NextRound  int    `json:"next_round"`
	MaxRounds  int    `json:"max_rounds"`
	NextAction string `json:"next_action"`
	Stuck      bool   `json:"stuck"`
	Reason     string `json:"reason"`
	api.Progress
	Bar         routing.Bar       `json:"bar"`
	PolicyBar   routing.Bar       `json:"policy_bar"`
	Policy      routing.Identity  `json:"policy"`
	Confinement confinement.Level `json:"confinement"`
}

// Decision is the part of an api.Decision that folds and counters need.
type Decision struct {
	DecisionFields
	Findings     []Finding      `json:"findings"`
	InducedCount *int           `json:"induced_count"`
	Deferred     []Finding      `json:"deferred"`
	Input        *routing.Input `json:"input"`
	Reports      []api.Report   `json:"reports"`
}

// Finding is the part of a finding.Finding that folds and counters need.
type Finding struct {
	Fingerprint string `json:"fingerprint"`
	Category    string `json:"category"`
	Severity    string `json:"severity"`
	Route       string `json:"route"`
}

// Round is the part of the body of a decided round that replay needs.
type Round struct {
	Event    task.RoundDecided `json:"event"`
	Decision *RoundDecision    `json:"decision"`
}

// RoundDecision is the part of an api.Decision that replay needs. Inputs are not decoded,
// because most ledgers have only a few hundred different ones.
type RoundDecision struct {
	DecisionFields
	Findings []RoundFinding `json:"findings"`
	Deferred []RoundFinding `json:"deferred"`
	Input    jsontext.Value `json:"input"`
	BarInput jsontext.Value `json:"bar_input"`
}

// RoundFinding is the part of a finding.Finding that replay needs.
type RoundFinding struct {
	Category        string             `json:"category"`
	Severity        finding.Severity   `json:"severity"`
	Route           string             `json:"route"`
	UnknownCategory bool               `json:"unknown_category"`
	Standing        task.FindingStatus `json:"standing"`
	Sources         []Source           `json:"sources"`
}

// Source is the part of a finding.Source that replay needs.
type Source struct {
	Critic string `json:"critic"`
}

// Timing has the durations of the parts of a decision, in microseconds of a monotonic
// clock.
type Timing struct {
	Plugins      []PluginTiming `json:"plugins,omitzero"`
	PolicyMicros int64          `json:"policy_us"`
}

// PluginTiming is the duration of a plugin's run on one report.
type PluginTiming struct {
	Plugin string `json:"plugin"`
	Micros int64  `json:"us"`
}

// Encode returns the JSON of a body. Strings may contain any bytes, as a user typed them.
func (b Body[D, F]) Encode() ([]byte, error) {
	return json.Marshal(b, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// DecisionOrZero returns the decision, or the zero value if it is nil.
func (b Body[D, F]) DecisionOrZero() D {
	if b.Decision == nil {
		var zero D
		return zero
	}
	return *b.Decision
}

// Decode reads the part of an event's body that folds and counters need.
func Decode(e ledger.Event) (Facts, error) { return decode[Decision, Finding](e) }

// DecodeFull reads the whole body of an event.
func DecodeFull(e ledger.Event) (Full, error) { return decode[api.Decision, finding.Finding](e) }

// DecodeRound reads the part of the body of a decided round that replay needs.
func DecodeRound(e ledger.Event) (r Round, err error) {
	if err := compactjson.Unmarshal(e.Body, &r); err != nil {
		return r, fmt.Errorf("read event: %w", err)
	}
	return r, nil
}

func decode[D, F any](e ledger.Event) (b Body[D, F], err error) {
	if b.Event = task.NewEvent(task.Kind(e.Kind)); b.Event == nil {
		return b, fmt.Errorf("unknown kind of event %q", e.Kind)
	}
	if !compactjson.Decode(e.Body, &b) {
		b = Body[D, F]{Event: task.NewEvent(task.Kind(e.Kind))}
		if err := json.Unmarshal(e.Body, &b); err != nil {
			return b, fmt.Errorf("read event: %w", err)
		}
	}
	if b.Event == nil {
		return b, fmt.Errorf("the body has a null event")
	}
	return b, nil
}

// Tampered returns the error of a ledger that has events of a task that Switchyard did not
// write.
func Tampered(id, format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of task %s was changed: %w", id, fmt.Errorf(format, args...)).With("task", id)
}

// The ledger chain of rounds that failed because of a plugin or policy error, and the kind
// of its events. A failure does not change its task, so it is not in the task's own chain.
const (
	FailuresChain     = "_failures"
	KindFailed        = "round-failed"
	MaxFailureMessage = 500 // bytes
)

// Failure is the body of an event in the failures chain.
type Failure struct {
	By   string    `json:"by"`
	Task string    `json:"task"`
	Code errs.Code `json:"code"`
	// Plugin is the plugin that failed, "" if the policy did.
	Plugin string `json:"plugin,omitzero"`
	// Message is the error message, at most MaxFailureMessage bytes.
	Message string `json:"message"`
}

// The ledger chain of agents' sessions that the Stop hook has blocked, and the kinds of its
// events. They do not change their tasks.
const (
	SessionsChain       = "_sessions"
	KindSessionBlocked  = "session-blocked"
	KindSessionReleased = "session-released"
)

// Session is the body of an event in the sessions chain.
type Session struct {
	By    string        `json:"by"`
	Tasks []SessionTask `json:"tasks"`
	// Session is the agent's id of a blocked session, and Tree the digest of the working
	// tree.
	Session string `json:"session,omitzero"`
	Tree    string `json:"tree,omitzero"`
	// Reason says why a person ends the blocking.
	Reason string `json:"reason,omitzero"`
}

// SessionTask is a decision because of which sessions are blocked.
type SessionTask struct {
	Task  string `json:"task"`
	Round int    `json:"round"`
	// DecidedAt is the time of the decision.
	DecidedAt string `json:"decided_at"`
	// Verify is red or green if the hook ran the verification, otherwise "".
	Verify string `json:"verify,omitzero"`
}
