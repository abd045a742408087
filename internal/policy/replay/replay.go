// Package replay decides recorded rounds again with another policy, the candidate. It
// shows which recorded decisions an amendment would have changed.
//
// Every round is replayed as recorded: its findings go to the destinations of the
// candidate's table; its round, cap, verification and progress stay the same. The
// consequences of a changed decision are not simulated, because the work of another agent
// is unknown.
//
// A decision is changed if the destination is. Rounds that keep their destination but
// change the reason are counted separately.
package replay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

const (
	// maxChanged bounds the changed decisions that a report lists.
	maxChanged = 1000
	// maxVaried bounds the policies, and the pairs of destinations, of a report. Only a
	// forged ledger exceeds it.
	maxVaried = 10_000
)

// Options are the options of a replay.
type Options struct {
	// Since is the start of the replayed period, as stated in the report. The zero time
	// means all rounds. Replay itself does not filter by it.
	Since time.Time
	// Find returns the policy with a digest, so that causes can name the rule that
	// decided. It may be nil, or return a nil policy if that policy is unavailable.
	Find func(ctx context.Context, digest string) (*routing.Policy, error)
	// PlayOn also follows each task by the candidate's decisions (see Played), which takes
	// memory for every task that has not ended.
	PlayOn bool
}

// Replay is a replay in progress. Its memory use does not grow with the number of rounds.
// It is not safe for concurrent use.
type Replay struct {
	decider *Decider
	find    func(ctx context.Context, digest string) (*routing.Policy, error) // nil for an unavailable policy
	report  Report
	matrix  map[Cell]int64 // by cells without a count
	reasons map[Cell]int64
	used    map[routing.Identity]int // the index in the report
	bars    map[Cell]int64
	changed hash.Hash // over the lines of all changed decisions
	player  *player   // nil if tasks are not followed
}

// New starts a replay with a candidate.
func New(candidate *routing.Policy, o Options) *Replay {
	y := &Replay{
		decider: NewDecider(candidate), find: o.Find,
		report: Report{Candidate: candidate.Identity()},
		matrix: make(map[Cell]int64), reasons: make(map[Cell]int64), used: make(map[routing.Identity]int),
		bars: make(map[Cell]int64), changed: sha256.New(),
	}
	if y.find == nil {
		y.find = func(context.Context, string) (*routing.Policy, error) { return nil, nil }
	}
	if o.PlayOn {
		y.player = &player{decider: newDecider(y.decider.table), tasks: make(map[string]*PlayedTask)}
	}
	if !o.Since.IsZero() {
		y.report.Since = o.Since.UTC().Format(time.RFC3339Nano)
	}
	return y
}

// Add decides one more round. Rounds must be added in the order of their Seq.
//
// # Errors
//
// replay-too-varied, replay-record-invalid for a round out of order, and errors from
// Decider.Decide. The replay is then unusable.
func (y *Replay) Add(ctx context.Context, r Recorded) error {
	if r.Seq <= y.report.Through {
		return r.fault("number %d does not come after %d", r.Seq, y.report.Through)
	}
	now, err := y.decider.Decide(ctx, r)
	if err != nil {
		return err
	}
	y.report.Decisions++
	y.report.Through = r.Seq
	y.matrix[Cell{From: r.Decision.NextAction, To: now.Decision.NextAction}]++
	if now.PolicyBar != "" || r.PolicyBar != "" {
		y.bars[Cell{From: string(cmp.Or(r.PolicyBar, routing.BarAll)), To: string(cmp.Or(now.PolicyBar, routing.BarAll))}]++
	}
	if err := y.use(r.Policy); err != nil {
		return err
	}
	if y.player != nil {
		before, err := y.find(ctx, r.Policy.Digest)
		if err == nil {
			err = y.player.add(ctx, r, before)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case now.Decision.NextAction != r.Decision.NextAction:
		return y.change(ctx, r, now)
	case now.Decision.Reason != r.Decision.Reason:
		y.reasons[Cell{From: r.Decision.Reason, To: now.Decision.Reason}]++
	}
	return nil
}

// use counts a decision of a policy.
func (y *Replay) use(id routing.Identity) error {
	i, ok := y.used[id]
	if !ok {
		i = len(y.report.Policies)
		y.used[id] = i
		y.report.Policies = append(y.report.Policies, Used{Policy: id})
	}
	y.report.Policies[i].Decisions++
	if max(len(y.used), len(y.matrix), len(y.reasons), len(y.bars)) > maxVaried {
		return errs.New(errs.ReplayTooVaried, "the rounds name more than %d policies or pairs of destinations", maxVaried).With("limit", maxVaried)
	}
	return nil
}

// change records a changed decision.
func (y *Replay) change(ctx context.Context, r Recorded, now Outcome) error {
	f := ChangedDecision{Task: r.Task, Round: r.Round, Event: r.N, At: r.At, From: r.Decision, To: now.Decision}
	line, err := json.Marshal(struct {
		Task  string           `json:"task"`
		Round int              `json:"round"`
		Event int64            `json:"event"`
		From  routing.Decision `json:"from"`
		To    routing.Decision `json:"to"`
	}{f.Task, f.Round, f.Event, f.From, f.To})
	if err != nil {
		return r.fault("%w", err)
	}
	y.changed.Write(append(line, '\n'))
	if len(y.report.Changed) == maxChanged {
		y.report.Omitted++
		return nil
	}
	if f.Causes, err = y.causes(ctx, r, now); err != nil {
		return err
	}
	y.report.Changed = append(y.report.Changed, f)
	return nil
}

// Report returns the results for the rounds so far. The caller owns it.
func (y *Replay) Report() Report {
	r := y.report
	r.Policies = slices.Clone(r.Policies)
	r.Changed = slices.Clone(r.Changed)
	r.Matrix, r.Reasons = cells(y.matrix), cells(y.reasons)
	if len(y.bars) > 0 {
		r.Bars = cells(y.bars)
	}
	if y.player != nil {
		r.Played = y.player.played()
	}
	r.ChangedDigest = digest.OfHash(y.changed)
	return r
}
