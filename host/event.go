package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// record is the body of an event in the ledger: what the state machine made of
// a command, and what led to it.
type record struct {
	// By is who gave the command.
	By string `json:"by"`
	// Before is the digest of the task's state that the command saw, "" for a new
	// task, and for what is recorded together with an earlier event. So a state
	// that was changed by hand leaves its trace in the chain, although the next
	// event writes the state anew.
	Before string `json:"before,omitzero"`
	// Base is the commit that the task's draft is compared with from now on, "" if that
	// stays as it is.
	Base string `json:"base,omitzero"`
	// Prompt is what the task is from now on, in its author's words, "" if that stays as
	// it is.
	Prompt string `json:"prompt,omitzero"`
	// Event is what the state machine folds.
	Event task.Event `json:"event"`
	// Decision is set where a round was decided. It holds the policy's whole
	// input and every digest that led to it, so that it can be replayed.
	Decision *Decision `json:"decision,omitzero"`
	// Verification is set where a draft was verified green.
	Verification *Verification `json:"verification,omitzero"`
	// Spawn is set where an agent's run has ended: the line of the trail.
	Spawn *spawner.Record `json:"spawn,omitzero"`
	// Findings are those that a person put a task aside with.
	Findings []finding.Finding `json:"findings,omitzero"`
	// Timing is set where a round was decided, and is no part of the decision: the
	// same evidence is not read in the same time twice.
	Timing *Timing `json:"timing,omitzero"`
	// Limits are the budgets that announced runs have to keep to, nil for none.
	Limits *task.Limits `json:"limits,omitzero"`
	// Budget is the one that was too small where a task was put aside for it: the
	// unit of budget-exhausted.
	Budget string `json:"budget,omitzero"`
}

// TaskStatus is where a task stands.
type TaskStatus struct {
	TaskID string `json:"task_id"`
	task.State
	// Drafter is the agent whose draft this round wants, "" where a person makes
	// it. It is no part of what is kept.
	Drafter string `json:"drafter,omitzero"`
	// Base is the id of the commit that the task's draft is compared with, "" for HEAD.
	Base string `json:"base,omitzero"`
	// Prompt is what the task is, in its author's words, "" if that is not known.
	Prompt string `json:"prompt,omitzero"`
	// Event is the number of the task's newest event.
	Event int64 `json:"event"`
	// Policies are those that decided the task's rounds, in the order of their first
	// decision; of very many the newest.
	Policies []PolicyUse `json:"policies,omitzero"`
	// DecidedAt is the time of the newest decision, "" before the first, and
	// UpdatedAt that of the newest event: RFC 3339 in UTC.
	DecidedAt string `json:"decided_at,omitzero"`
	UpdatedAt string `json:"updated_at"`
}

// kept is a task's status as the ledger's projection keeps it.
type kept struct {
	TaskStatus
	// FindingsEvent is the number of the newest event which names the findings
	// that are open, 0 for none.
	FindingsEvent int64 `json:"findings_event,omitzero"`
}

// public is the status without what is nobody's business.
func (k kept) public() TaskStatus {
	s := k.TaskStatus
	if s.Status == task.Open {
		s.Drafter = s.State.Drafter()
	}
	s.Memory = task.Memory{}
	return s
}

// The prefixes of the keys under which a task's entries are kept.
const (
	keyFinding  = "finding/"  // by fingerprint: task.Trace
	keyDecision = "decision/" // by event: HistoryEntry
	keyRound    = "round/"    // by round: the number of its newest decision
	keyOverride = "override/" // by event: OverrideEntry
	keyAnswer   = "answer/"   // by round and event: the number of that event
	keyTurn     = "turn/"     // by event: TurnEntry
	keyRun      = "run/"      // by the digest of agent and run: task.Stamp
	keyStanding = "standing"  // of a task that waits or is stuck: standing
	keyLimits   = "limits"    // of a task with budgets: task.Limits
)

// HistoryEntry is one decision in short.
type HistoryEntry struct {
	Round        int    `json:"round"`
	NextRound    int    `json:"next_round"`
	MaxRounds    int    `json:"max_rounds"`
	NextAction   string `json:"next_action"`
	Reason       string `json:"reason"`
	FindingCount int    `json:"finding_count"`
	// Policy is the one that decided.
	Policy policies.Identity `json:"policy"`
	At     string            `json:"at"`
	Event  Event             `json:"event"`
}

// OverrideEntry is a gate that somebody forced.
type OverrideEntry struct {
	task.Override
	At    string `json:"at"`
	Event Event  `json:"event"`
}

// TurnEntry is what a person made of a task beside its decisions: that the work
// began, was put aside, went on or was committed.
type TurnEntry struct {
	// Kind is task.KindStarted, KindStopped, KindResumed or KindFinished.
	Kind task.Kind `json:"kind"`
	// Round is the one that the task was in afterwards.
	Round int `json:"round"`
	// Mode is how a stuck task went on.
	Mode   task.Mode `json:"mode,omitzero"`
	Reason string    `json:"reason,omitzero"`
	By     string    `json:"by"`
	At     string    `json:"at"`
	Event  Event     `json:"event"`
}

// fold applies an event to a task's projection.
func fold(before ledger.View, e ledger.Event) (ledger.Projection, error) {
	switch e.Task {
	case policiesChain:
		return foldPolicies(before, e)
	case failuresChain:
		return foldFailure(before, e)
	}
	was, err := recall(before)
	if err != nil {
		return ledger.Projection{}, err
	}
	s := was.kept
	told, err := decode(e)
	if err != nil {
		return ledger.Projection{}, err
	}
	if told.before != "" && told.before != digestOf(before.State()) {
		return ledger.Projection{}, fmt.Errorf("it was decided on a state that the events before it do not give")
	}
	next, err := task.Apply(s.State, told.event)
	if err != nil {
		return ledger.Projection{}, err
	}
	p := projection{place: Event{N: e.N, Hash: e.Hash}, at: e.At}
	if next.Overrides > s.Overrides && next.Forced != nil {
		p.put(sequenced(keyOverride, e.N), OverrideEntry{Override: *next.Forced, At: e.At, Event: p.place})
	}
	switch event := told.event.(type) {
	case *task.Decided:
		p.decided(*event, told.policy)
		s.used(told.policy, event.Round)
		s.DecidedAt = e.At
		if event.Reviewed {
			p.traces(before, s.State, told.fingerprints)
			s.FindingsEvent = e.N
		} else if event.FindingCount > 0 {
			s.FindingsEvent = e.N // A critic that came to nothing is found by us.
		}
	case *task.Imported:
		p.traces(before, task.State{Round: event.Round}, told.fingerprints)
		s.FindingsEvent = e.N
	case *task.Stamped:
		if event.Stamp.Run != "" {
			key := runKey(event.Stamp.Agent, event.Stamp.Run)
			if known, err := before.Entry(key); err != nil || known != nil {
				return ledger.Projection{}, cmp.Or(err, fmt.Errorf("a run of %s is stamped again", event.Stamp.Agent))
			}
			p.put(key, event.Stamp)
		}
	case *task.Answered:
		p.put(sequenced(answersOf(event.Round), e.N), e.N)
	case *task.Started:
		p.turn(TurnEntry{Kind: event.Kind(), Round: event.Round, By: told.by})
	case *task.Stopped:
		p.turn(TurnEntry{Kind: event.Kind(), Round: event.Stop.Round, Reason: event.Stop.Reason, By: event.Stop.By})
		if told.fingerprints != nil {
			s.FindingsEvent = e.N
		}
	case *task.Resumed:
		p.turn(TurnEntry{Kind: event.Kind(), Round: event.Round, Mode: event.Mode, Reason: event.Reason, By: event.By})
	case *task.Finished:
		p.turn(TurnEntry{Kind: event.Kind(), Round: event.Round, By: told.by})
	}
	if next.Forgotten > s.Forgotten {
		s.FindingsEvent = 0 // What was found belongs to the work before.
	}
	s.TaskID, s.State, s.Event, s.UpdatedAt = e.Task, next, e.N, e.At
	s.Base, s.Prompt = cmp.Or(told.base, s.Base), cmp.Or(told.prompt, s.Prompt)
	is := moment{kept: s, limits: was.limits}.since(was, told, e.At)
	p.remember(was, &is, told.limits)
	state := p.encode(s)
	return ledger.Projection{State: state, Entries: p.entries, Counts: counted(was, is, told, e)}, p.err
}

// recall reads what a task's events have made of it, as far as a fold needs it.
func recall(before ledger.View) (moment, error) {
	var m moment
	if state := before.State(); state != nil {
		if err := json.Unmarshal(state, &m.kept); err != nil {
			return moment{}, fmt.Errorf("read state: %w", err)
		}
	}
	read := func(key string, into any) error {
		text, err := before.Entry(key)
		if err != nil || text == nil {
			return err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		return nil
	}
	// Most tasks have neither, and need no look.
	if m.Status == task.Waiting || m.Status == task.Stuck {
		if err := read(keyStanding, &m.standing); err != nil {
			return moment{}, err
		}
	}
	if m.Spent.Runs > 0 || len(m.Runs) > 0 {
		if err := read(keyLimits, &m.limits); err != nil {
			return moment{}, err
		}
	}
	return m, nil
}

// remember keeps beside a task's state what only its counting needs. Limits are those
// that came with the event, nil for none.
func (p *projection) remember(was moment, is *moment, limits *task.Limits) {
	switch {
	case is.standing == was.standing:
	case is.standing == standing{}:
		p.drop(keyStanding)
	default:
		p.put(keyStanding, is.standing)
	}
	if limits != nil && *limits != was.limits {
		is.limits = *limits
		p.put(keyLimits, *limits)
	}
}

// told is what a fold takes from the body of an event.
type told struct {
	event task.Event
	// before is the digest of the state that the command saw, "" where nobody
	// says, and by is who gave it.
	before, by string
	// base is the commit that the draft is compared with from now on, "" for the same.
	base string
	// prompt is what the task is from now on, "" for the same.
	prompt string
	// fingerprints are those of the findings that come with it, nil for none.
	fingerprints []string
	// policy is the one that decided, where something was decided; found are its
	// findings as they are counted.
	policy   policies.Identity
	found    []foundFinding
	progress foundProgress
	timing   *Timing
	// spawn is what an agent's CLI said of its run.
	spawn spawnUse
	// limits are the budgets of runs that begin, and budget is the one that was too
	// small.
	limits *task.Limits
	budget string
}

// foundFinding is what a finding is counted by.
type foundFinding struct {
	Category string `json:"category"`
	Severity string `json:"severity"`
	Route    string `json:"route"`
}

// foundProgress is how findings compare with earlier reviews.
type foundProgress struct {
	New      int64
	Repeat   int64
	Reopened int64
	Resolved int64
	None     bool
}

// spawnUse is what a run used up, nil where nobody said.
type spawnUse struct {
	TokensIn         *int64 `json:"tokens_in"`
	TokensOut        *int64 `json:"tokens_out"`
	TokensCached     *int64 `json:"tokens_cached"`
	CostMicroDollars *int64 `json:"cost_microdollars"`
}

// decode reads the body of an event.
func decode(e ledger.Event) (told, error) {
	event := task.Blank(task.Kind(e.Kind))
	if event == nil {
		return told{}, fmt.Errorf("unknown kind of event %q", e.Kind)
	}
	type named struct {
		Fingerprint string `json:"fingerprint"`
		foundFinding
	}
	body := struct {
		Before   string       `json:"before"`
		By       string       `json:"by"`
		Base     string       `json:"base"`
		Prompt   string       `json:"prompt"`
		Event    task.Event   `json:"event"`
		Findings []named      `json:"findings"`
		Timing   *Timing      `json:"timing"`
		Spawn    spawnUse     `json:"spawn"`
		Limits   *task.Limits `json:"limits"`
		Budget   string       `json:"budget"`
		Decision struct {
			Findings      []named           `json:"findings"`
			Policy        policies.Identity `json:"policy"`
			NoProgress    bool              `json:"no_progress"`
			NewCount      int64             `json:"new_count"`
			RepeatCount   int64             `json:"repeat_count"`
			ReopenedCount int64             `json:"reopened_count"`
			ResolvedCount int64             `json:"resolved_count"`
		} `json:"decision"`
	}{Event: event}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return told{}, fmt.Errorf("read event: %w", err)
	}
	d := body.Decision
	t := told{
		event: event, before: body.Before, by: body.By, base: body.Base, prompt: body.Prompt, policy: d.Policy, timing: body.Timing,
		progress: foundProgress{New: d.NewCount, Repeat: d.RepeatCount, Reopened: d.ReopenedCount, Resolved: d.ResolvedCount, None: d.NoProgress},
		spawn:    body.Spawn, limits: body.Limits, budget: body.Budget,
	}
	if body.Findings != nil {
		t.fingerprints = []string{} // A task that is put aside with no findings has none.
	}
	for _, f := range body.Findings {
		t.fingerprints = append(t.fingerprints, f.Fingerprint)
	}
	for _, f := range d.Findings {
		t.fingerprints = append(t.fingerprints, f.Fingerprint)
		t.found = append(t.found, f.foundFinding)
	}
	return t, nil
}

// projection collects the entries that an event changes.
type projection struct {
	place   Event
	at      string
	entries []ledger.Entry
	err     error
}

func (p *projection) put(key string, value any) {
	p.entries = append(p.entries, ledger.Entry{Key: key, Value: p.encode(value)})
}

func (p *projection) drop(key string) { p.entries = append(p.entries, ledger.Entry{Key: key}) }

func (p *projection) encode(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if p.err == nil {
		p.err = err
	}
	return text
}

func (p *projection) turn(t TurnEntry) {
	t.At, t.Event = p.at, p.place
	p.put(sequenced(keyTurn, p.place.N), t)
}

func (p *projection) decided(d task.Decided, by policies.Identity) {
	p.put(sequenced(keyDecision, p.place.N), HistoryEntry{
		Round: d.Round, NextRound: d.NextRound, MaxRounds: d.MaxRounds, NextAction: d.NextAction, Reason: d.Reason,
		FindingCount: d.FindingCount, Policy: by, At: p.at, Event: p.place,
	})
	p.put(sequenced(keyRound, int64(d.Round)), p.place.N)
}

// traces moves the past of every finding of a review on.
func (p *projection) traces(before ledger.View, s task.State, fingerprints []string) {
	keys := findingKeys(fingerprints)
	texts, err := before.Entries(keys)
	if err != nil {
		p.err = fmt.Errorf("read the past of the findings: %w", err)
		return
	}
	for _, key := range keys {
		var past task.Trace
		if text := texts[key]; text != nil {
			if err := json.Unmarshal(text, &past); err != nil {
				p.err = fmt.Errorf("read the past of %s: %w", key, err)
				return
			}
		}
		p.put(key, s.Trace(past))
	}
}

// findingKeys are the keys under which the past of findings is kept.
func findingKeys(fingerprints []string) []string {
	keys := make([]string, len(fingerprints))
	for i, f := range fingerprints {
		keys[i] = keyFinding + f
	}
	return keys
}

// answersOf is the prefix of the answers to a round's questions.
func answersOf(round int) string { return sequenced(keyAnswer, int64(round)) + "/" }

// runKey is the key of an agent's run, whatever it is called.
func runKey(agent, run string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + run))
	return keyRun + hex.EncodeToString(sum[:])
}

// sequenced is a key that sorts by a number.
func sequenced(prefix string, n int64) string { return fmt.Sprintf("%s%012d", prefix, n) }

// ledger opens the project's ledger. One that does not exist yet reads as empty
// and is created by the first event.
func (e *Engine) ledger(ctx context.Context) (*ledger.Ledger, error) {
	return ledger.Open(ctx, e.project.State(), fold)
}
