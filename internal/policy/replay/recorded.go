package replay

import (
	"cmp"
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/policy/table"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Recorded is a recorded round: everything needed to decide it again, and its decision.
type Recorded struct {
	// Seq is the event's number in its ledger, N its number in its task.
	Seq, N int64
	Task   string
	Round  int
	// At is the time of the decision: RFC 3339 in UTC.
	At string
	// Input is the input given to the policy about the open findings.
	Input routing.Input
	// BarInput is the input given to the rule bar, or nil for a policy without it. PolicyBar
	// is the result. Bar is the bar of the review: PolicyBar, or the bar of an earlier review
	// if that was higher.
	BarInput       *routing.Input
	PolicyBar, Bar routing.Bar
	// Reviewed reports whether the round had a review.
	Reviewed bool
	// Confinement is the lowest level that one of its reports was made at, or "".
	Confinement confinement.Level
	// Categories are the categories of the findings, deferred ones included.
	Categories []Category
	Decision   routing.Decision
	// Policy is the policy that decided.
	Policy routing.Identity
}

// Category counts the findings of a round that have the same category, destination,
// severity and history.
type Category struct {
	Name string
	// Route is their recorded destination. Unknown reports that the policy did not know
	// the category.
	Route    string
	Unknown  bool
	Severity finding.Severity
	// Standing compares them with earlier reviews; "" is new.
	Standing task.FindingStatus
	// Audited reports whether they are from the audit, and Deferred whether the bar deferred
	// them.
	Audited, Deferred bool
	// Count is at least 1.
	Count int
}

// check fails if r contradicts itself. It accepts inputs that only a policy would reject.
func (r Recorded) check() error {
	switch {
	case r.Task == "":
		return r.fault("it has no task")
	case r.Round != r.Input.Round:
		return r.fault("it was round %d, and its input says %d", r.Round, r.Input.Round)
	case !routing.IsName(r.Decision.NextAction) || !routing.IsName(r.Decision.Reason):
		return r.fault("%.80q for the reason %.80q is not a decision", r.Decision.NextAction, r.Decision.Reason)
	case r.Policy.Digest == "":
		return r.fault("it does not say which policy decided")
	}
	findings, deferred := 0, 0
	routes := make(map[string]int)
	for _, c := range r.Categories {
		if c.Count < 1 {
			return r.fault("it has %d findings of category %.80q", c.Count, c.Name)
		}
		if c.Deferred {
			deferred += c.Count
			continue
		}
		findings += c.Count
		routes[c.Route] += c.Count
	}
	switch {
	case (r.Input.Facts == nil) != (r.BarInput == nil), r.BarInput != nil && r.BarInput.Facts == nil:
		return r.fault("only one of its inputs has facts")
	case deferred != deferredCount(r.Input):
		return r.fault("it defers %d findings, and its input says %d", deferred, deferredCount(r.Input))
	case findings != r.Input.FindingCount:
		return r.fault("it has %d findings, and its input says %d", findings, r.Input.FindingCount)
	}
	for name, n := range r.Input.Routes {
		routes[name] -= n
	}
	for _, n := range routes {
		if n != 0 {
			return r.fault("the routes of its findings differ from its input")
		}
	}
	return nil
}

func (r Recorded) fault(format string, args ...any) error {
	return errs.New(errs.ReplayRecordInvalid, "event %d of task %s cannot be replayed: %w", r.N, r.Task, fmt.Errorf(format, args...)).
		With("task", r.Task).With("event", r.N)
}

// maxTrends bounds the tasks whose trends a Decider remembers, at some 300 bytes each.
const maxTrends = 1 << 14

// Decider decides recorded rounds again with one policy. It is not safe for concurrent use.
type Decider struct {
	policy *routing.Policy
	table  *table.Table
	trends map[string]task.State // by task, for records without facts
}

// Outcome is a policy's result for a recorded round.
type Outcome struct {
	// Input is the input given to the policy.
	Input routing.Input
	// Decision is routing.Undecided if the policy rejected the input or failed on it.
	Decision routing.Decision
	// Bar is the bar of the review, and PolicyBar the result of the rule bar. They are "" for
	// a policy without that rule.
	Bar, PolicyBar routing.Bar
}

// NewDecider returns a Decider for a policy.
func NewDecider(p *routing.Policy) *Decider { return newDecider(table.New(p)) }

// Policy returns the policy.
func (d *Decider) Policy() *routing.Policy { return d.policy }

func newDecider(t *table.Table) *Decider {
	return &Decider{policy: t.Policy(), table: t, trends: make(map[string]task.State)}
}

// Decide sends a round's findings to the destinations of the policy's table, keeps the
// rest of the recorded input, and lets the policy decide. A policy with a bar first defers
// the findings below it.
//
// # Errors
//
// replay-record-invalid; the end of ctx; and policy-timeout, because that says nothing
// about the round. Any other error of the policy becomes an Outcome.
func (d *Decider) Decide(ctx context.Context, r Recorded) (Outcome, error) {
	var latched routing.Bar
	if r.Bar.Above(r.PolicyBar) {
		latched = r.Bar
	}
	return d.decideAbove(ctx, r, latched)
}

// decideAbove is Decide for a review whose bar is at least latched.
func (d *Decider) decideAbove(ctx context.Context, r Recorded, latched routing.Bar) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	all, facts := r.Input, (*routing.Facts)(nil)
	if r.BarInput != nil {
		all = *r.BarInput
	}
	if d.policy.HasBar() {
		facts = d.facts(r, all)
	}
	all.Facts, all.Routes = facts, d.routes(r, nil)
	if facts == nil {
		return d.decide(ctx, all)
	}
	made, err := d.table.Ask(ctx, routing.BarRule, all)
	if err != nil {
		return Outcome{}, err
	}
	bar := routing.Bar(made.NextAction)
	if !bar.Valid() {
		return Outcome{Input: all, Decision: made}, nil
	}
	effective := bar
	if latched.Above(bar) {
		effective = latched
	}
	o, err := d.decide(ctx, d.open(r, all, effective))
	o.Bar, o.PolicyBar = effective, bar
	return o, err
}

// routes counts the findings by destination, without the categories that skip reports.
func (d *Decider) routes(r Recorded, skip func(Category) bool) map[string]int {
	routes := make(map[string]int, len(r.Categories))
	for _, c := range r.Categories {
		if skip == nil || !skip(c) {
			to, _ := d.policy.Route(c.Name)
			routes[to] += c.Count
		}
	}
	return routes
}

// facts returns the facts about all findings of a round. If the record has no facts, they
// are derived from the numbers of new findings in the task's reviews.
func (d *Decider) facts(r Recorded, all routing.Input) *routing.Facts {
	var f routing.Facts
	if all.Facts != nil {
		f = *all.Facts
	} else {
		f = routing.Facts{HardCap: task.HardCap(all.MaxRounds, 0), FirstTimeCount: all.NewCount, Confinement: cmp.Or(r.Confinement, confinement.None)}
		f.RoundsLeft = max(f.HardCap-all.Round, 0)
		f.MayExtend = f.RoundsLeft > 0 && all.Productive()
		if r.Reviewed {
			trend := d.trends[r.Task].AfterReview(0, task.Progress{FirstTime: f.FirstTimeCount})
			f.ReviewsSinceLow = trend.SinceLow
			if len(d.trends) == maxTrends {
				clear(d.trends)
			}
			d.trends[r.Task] = trend
		}
	}
	f.BlockingCount = 0
	for _, c := range r.Categories {
		if d.blocks(c) {
			f.BlockingCount += c.Count
		}
	}
	if f.BlockingCount == 0 || f.InducedCount == nil || *f.InducedCount < f.BlockingCount {
		f.InducedRounds = 0
	}
	return &f
}

// blocks reports whether no bar defers the findings.
func (d *Decider) blocks(c Category) bool {
	route, _ := d.policy.Route(c.Name)
	to, _ := d.policy.Destination(route)
	return c.Audited || to.Kind != routing.Agent || !routing.BarFail.Defers(c.Severity)
}

// open returns the input about the findings that are not deferred.
func (d *Decider) open(r Recorded, all routing.Input, bar routing.Bar) routing.Input {
	deferred := func(c Category) bool { return !d.blocks(c) && bar.Defers(c.Severity) }
	in, count := all, 0
	in.Routes = d.routes(r, deferred)
	for _, c := range r.Categories {
		if !deferred(c) {
			continue
		}
		count += c.Count
		in.FindingCount -= c.Count
		switch c.Standing {
		case task.Repeat:
			in.RepeatCount -= c.Count
		case task.Reopened:
			in.ReopenedCount -= c.Count
		default:
			in.NewCount -= c.Count
		}
	}
	in.NoProgress = in.IsStalled()
	if in.StalledRounds = 0; in.NoProgress {
		in.StalledRounds = max(all.StalledRounds, r.Input.StalledRounds, 1)
	}
	in = withFacts(in, *all.Facts, count)
	// Whether a review settled the previous one is known only from recorded facts.
	if recorded := r.Input.Facts; recorded != nil && recorded.DeferredCount == count {
		in.MayExtend = recorded.MayExtend
	}
	return in
}

// withFacts adds facts to an input about the findings that are not deferred.
func withFacts(in routing.Input, f routing.Facts, deferred int) routing.Input {
	f.DeferredCount, f.MayExtend = deferred, f.RoundsLeft > 0 && in.Productive()
	in.Facts = &f
	return in
}

func (d *Decider) decide(ctx context.Context, in routing.Input) (Outcome, error) {
	made, err := d.table.Ask(ctx, routing.DecisionRule, in)
	return Outcome{Input: in, Decision: made}, err
}
