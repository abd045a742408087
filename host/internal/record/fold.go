package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/compactjson"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Prefixes of the keys of a task's entries.
const (
	keyFinding  = "finding/"  // by fingerprint: task.Trace
	keyDecision = "decision/" // by event: HistoryEntry
	keyRound    = "round/"    // by round: the number of its latest decision
	keyOverride = "override/" // by event: OverrideEntry
	keyAnswer   = "answer/"   // by round and event: the number of that event
	keyTurn     = "turn/"     // by event: LifecycleEntry
	keyRun      = "run/"      // by the digest of agent and run: task.Attestation
	keyStanding = "standing"  // of a task that waits or is stuck: statusSince
	keyLimits   = "limits"    // of a task with budgets: task.Limits
)

// Fold applies an event to a task's projection.
func Fold(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
	switch e.Task {
	case policyset.Chain:
		return policyset.Fold(before, e)
	case event.FailuresChain:
		return foldFailedRound(before, e)
	case event.SessionsChain:
		return foldSession(before, e)
	}
	was, err := loadSnapshot(before)
	if err != nil {
		return ledger.Projection{}, err
	}
	s := was.StoredStatus
	body, err := event.Decode(e)
	if err != nil {
		return ledger.Projection{}, err
	}
	if body.Before != "" && body.Before != digest.Of(before.State) {
		return ledger.Projection{}, fmt.Errorf("it was decided on a state that the events before it do not give")
	}
	next, err := task.Apply(s.State, body.Event)
	if err != nil {
		return ledger.Projection{}, err
	}
	p := projection{ref: api.EventRef{N: e.N, Hash: e.Hash}, at: e.At}
	if err := p.add(before, &s, next, body); err != nil {
		return ledger.Projection{}, err
	}
	if next.ResetReview > s.ResetReview {
		s.FindingsEvent = 0 // The findings belong to work that was reset.
	}
	s.TaskID, s.State, s.Event, s.UpdatedAt = e.Task, next, e.N, e.At
	s.Base, s.Prompt = cmp.Or(body.Base, s.Base), cmp.Or(body.Prompt, s.Prompt)
	is := taskSnapshot{StoredStatus: s, limits: was.limits}.withStatusSince(was, body, e.At)
	p.storeCounterState(was, &is, body.Limits)
	state := p.encode(s)
	return ledger.Projection{State: state, Entries: p.entries, Changes: countEvent(was, is, body, e), Parsed: true}, p.err
}

// add adds the entries of an event, and sets the fields of the status outside of its state,
// which becomes next. It rejects an event that contradicts its task.
func (p *projection) add(before *ledger.View, s *StoredStatus, next task.State, body event.Facts) error {
	if next.Overrides > s.Overrides && next.Forced != nil {
		p.put(sequenced(keyOverride, p.ref.N), api.OverrideEntry{Override: *next.Forced, At: p.at, Event: p.ref})
	}
	decision := body.DecisionOrZero()
	switch event := body.Event.(type) {
	case *task.RoundDecided:
		if err := cmp.Or(checkBar(s.State, next, *event, decision), checkLevels(s.State, *event, decision)); err != nil {
			return err
		}
		p.put(sequenced(keyDecision, p.ref.N), api.HistoryEntry{
			Round: event.Round, NextRound: event.NextRound, MaxRounds: event.MaxRounds, NextAction: event.NextAction, Reason: event.Reason,
			FindingCount: event.FindingCount, Policy: decision.Policy, At: p.at, Event: p.ref,
		})
		p.put(sequenced(keyRound, int64(event.Round)), p.ref.N)
		s.addUse(decision.Policy, event.Round)
		s.DecidedAt = p.at
		if event.Reviewed {
			p.putTraces(before, s.State, decision.Findings, decision.Deferred)
			s.FindingsEvent = p.ref.N
		} else if event.FindingCount > 0 {
			s.FindingsEvent = p.ref.N // The finding says that the critic failed.
		}
	case *task.TaskImported:
		p.putTraces(before, task.State{Round: event.Round}, body.Findings, nil)
		s.FindingsEvent = p.ref.N
	case *task.AgentAttested:
		if event.Attestation.Run != "" {
			key := runKey(event.Attestation.Agent, event.Attestation.Run)
			if known, err := before.Entry(key); err != nil || known != nil {
				return cmp.Or(err, fmt.Errorf("a run of %s is attested again", event.Attestation.Agent))
			}
			p.put(key, event.Attestation)
		}
	case *task.SpawnEnded:
		if body.Spawn != nil && body.Spawn.Confinement != event.Receipt.Confinement {
			return fmt.Errorf("run %s ended at confinement %.80q, and its record says %.80q", event.Receipt.Run, event.Receipt.Confinement, body.Spawn.Confinement)
		}
	case *task.QuestionsAnswered:
		p.put(sequenced(answersOf(event.Round), p.ref.N), p.ref.N)
	case *task.WorkStarted:
		p.putLifecycle(withCap(api.LifecycleEntry{Kind: event.Kind(), Round: event.Round, By: body.By}, event.MaxRounds, event.HardCap))
	case *task.WorkStopped:
		p.putLifecycle(api.LifecycleEntry{Kind: event.Kind(), Round: event.Stop.Round, Reason: event.Stop.Reason, By: event.Stop.By})
		if body.Findings != nil {
			s.FindingsEvent = p.ref.N
		}
	case *task.WorkResumed:
		p.putLifecycle(withCap(api.LifecycleEntry{Kind: event.Kind(), Round: event.Round, Mode: event.Mode, Reason: event.Reason, By: event.By}, event.MaxRounds, event.HardCap))
	case *task.WorkCommitted:
		p.putLifecycle(api.LifecycleEntry{Kind: event.Kind(), Round: event.Round, By: body.By})
	}
	return nil
}

// checkBar rejects a decision with another bar than its policy or earlier reviews set, or
// with facts that do not follow from the task.
func checkBar(before, after task.State, e task.RoundDecided, d event.Decision) error {
	bar := before.Bar
	if d.PolicyBar.Above(policies.Bar(bar)) {
		bar = string(d.PolicyBar)
	}
	if e.Bar != bar {
		return fmt.Errorf("its bar is %.80q, and that of its policy and of earlier reviews is %.80q", e.Bar, bar)
	}
	if d.Input == nil || d.Input.Facts == nil || !e.Reviewed {
		return nil
	}
	f := d.Input.Facts
	if f.FirstTimeCount != e.FirstTime || f.ReviewsSinceLow != after.SinceLow || f.InducedRounds != e.InducedRounds || f.InducedRounds > before.InducedRounds+1 {
		return fmt.Errorf("the facts of its input do not follow from earlier reviews")
	}
	return nil
}

// checkLevels rejects a decision with another confinement level than the lowest of its
// reports, and a report with another level than the run that wrote it.
func checkLevels(before task.State, e task.RoundDecided, d event.Decision) error {
	for _, r := range d.Reports {
		var level confinement.Level
		if r.Run != "" {
			level = before.ConfinementOf(r.Run, r.Digest)
		}
		if r.Confinement != level {
			return fmt.Errorf("the confinement of its report %.80q is %.80q, and that of the run is %q", r.Path, r.Confinement, level)
		}
	}
	lowest := api.LowestConfinement(d.Reports)
	if e.Confinement != lowest || d.Confinement != lowest {
		return fmt.Errorf("its confinement is %.80q, and the lowest of its reports is %q", e.Confinement, lowest)
	}
	if d.Input != nil && d.Input.Facts != nil && d.Input.Confinement != cmp.Or(lowest, confinement.None) {
		return fmt.Errorf("its policy saw the confinement %.80q, and the lowest of its reports is %q", d.Input.Confinement, lowest)
	}
	return nil
}

// loadSnapshot reads the projection of a task, as far as a fold needs it.
func loadSnapshot(before *ledger.View) (taskSnapshot, error) {
	var m taskSnapshot
	if state := before.State; state != nil {
		if err := compactjson.Unmarshal(state, &m.StoredStatus); err != nil {
			return taskSnapshot{}, fmt.Errorf("read state: %w", err)
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
	// Most tasks have neither entry, so save the look-ups.
	if m.Status == task.Waiting || m.Status == task.Stuck {
		if err := read(keyStanding, &m.statusSince); err != nil {
			return taskSnapshot{}, err
		}
	}
	if m.Spent.Runs > 0 || len(m.Runs) > 0 {
		if err := read(keyLimits, &m.limits); err != nil {
			return taskSnapshot{}, err
		}
	}
	return m, nil
}

// storeCounterState stores the state that only counting needs. limits are the limits in the
// event, or nil.
func (p *projection) storeCounterState(was taskSnapshot, is *taskSnapshot, limits *task.Limits) {
	switch {
	case is.statusSince == was.statusSince:
	case is.statusSince == statusSince{}:
		p.entries = append(p.entries, ledger.Entry{Key: keyStanding}) // Without a value, it is deleted.
	default:
		p.put(keyStanding, is.statusSince)
	}
	if limits != nil && *limits != was.limits {
		is.limits = *limits
		p.put(keyLimits, *limits)
	}
}

type projection struct {
	ref     api.EventRef
	at      string
	entries []ledger.Entry
	err     error
}

func (p *projection) put(key string, value any) {
	p.entries = append(p.entries, ledger.Entry{Key: key, Value: p.encode(value)})
}

func (p *projection) encode(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if p.err == nil {
		p.err = err
	}
	return text
}

func (p *projection) putLifecycle(t api.LifecycleEntry) {
	t.At, t.Event = p.at, p.ref
	p.put(sequenced(keyTurn, p.ref.N), t)
}

// withCap adds the caps that an event set. An event of an older version has no hard cap, and
// its entry must not change.
func withCap(t api.LifecycleEntry, rounds, hard int) api.LifecycleEntry {
	if hard != 0 {
		t.MaxRounds, t.HardCap = rounds, hard
	}
	return t
}

// putTraces updates the history of every open or deferred finding of a review.
func (p *projection) putTraces(before *ledger.View, s task.State, open, deferred []event.Finding) {
	var keys []string
	for _, f := range slices.Concat(open, deferred) {
		keys = append(keys, keyFinding+f.Fingerprint)
	}
	texts, err := before.Entries(keys)
	if err != nil {
		p.err = fmt.Errorf("read the history of the findings: %w", err)
		return
	}
	for i, key := range keys {
		var past task.Trace
		if text := texts[key]; text != nil {
			if err := compactjson.Unmarshal(text, &past); err != nil {
				p.err = fmt.Errorf("read the history of %s: %w", key, err)
				return
			}
		}
		p.put(key, s.Trace(past, i >= len(open)))
	}
}

func answersOf(round int) string { return sequenced(keyAnswer, int64(round)) + "/" }

// runKey returns the key of an agent's run. It is a digest, since a run id may hold any
// byte.
func runKey(agent, run string) string {
	return keyRun + digest.Hex(agent+"\n"+run)
}

// sequenced returns a key that sorts by n.
func sequenced(prefix string, n int64) string { return fmt.Sprintf("%s%012d", prefix, n) }

// foldFailedRound applies an event of the failures chain; it only updates counters.
func foldFailedRound(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
	var state struct {
		Failures int64 `json:"failures"`
	}
	if text := before.State; text != nil {
		if err := json.Unmarshal(text, &state); err != nil {
			return ledger.Projection{}, err
		}
	}
	var reported event.Failure
	if err := json.Unmarshal(e.Body, &reported); err != nil {
		return ledger.Projection{}, err
	}
	if e.Kind != event.KindFailed {
		return ledger.Projection{}, errs.New(errs.LedgerTampered, "unknown kind of event %q about failures", e.Kind)
	}
	state.Failures++
	c := &counts{}
	c.add(counters.Failures(), 1, string(reported.Code))
	if reported.Plugin != "" {
		c.add(counters.PluginFailures(), 1, reported.Plugin, strings.TrimPrefix(string(reported.Code), "plugin-"))
	}
	p := projection{}
	text := p.encode(state)
	return ledger.Projection{State: text, Changes: c.changes}, p.err
}

// keySession is the prefix of the entries of the sessions chain, by task:
// api.SessionBlock.
const keySession = "task/"

func foldSession(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
	var body event.Session
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return ledger.Projection{}, err
	}
	p := projection{}
	for _, t := range body.Tasks {
		text, err := before.Entry(keySession + t.Task)
		if err != nil {
			return ledger.Projection{}, err
		}
		var block api.SessionBlock
		if text != nil {
			if err := json.Unmarshal(text, &block); err != nil {
				return ledger.Projection{}, fmt.Errorf("read the blocked sessions of %s: %w", t.Task, err)
			}
		}
		if block.DecidedAt != t.DecidedAt {
			block = api.SessionBlock{Round: t.Round, DecidedAt: t.DecidedAt, Tree: block.Tree}
		}
		switch e.Kind {
		case event.KindSessionBlocked:
			block.Blocks++
			block.Session, block.Tree, block.At = body.Session, body.Tree, e.At
		case event.KindSessionReleased:
			block.Released = &api.SessionRelease{Reason: body.Reason, By: body.By, At: e.At}
		default:
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "unknown kind of event %q about sessions", e.Kind)
		}
		p.put(keySession+t.Task, block)
	}
	return ledger.Projection{State: p.encode(struct{}{}), Entries: p.entries}, p.err
}

// SessionBlock returns the record of the Stop hook about a task, or nil.
func (r *Task) SessionBlock(ctx context.Context) (*api.SessionBlock, error) {
	entries, err := r.Ledger.Entries(ctx, event.SessionsChain, []string{keySession + r.ID})
	text := entries[keySession+r.ID]
	if err != nil || text == nil {
		return nil, err
	}
	block := new(api.SessionBlock)
	if err := json.Unmarshal(text, block); err != nil {
		return nil, event.Tampered(r.ID, "its blocked sessions cannot be read: %w", err)
	}
	return block, nil
}
