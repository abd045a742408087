package policyset

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// maxDeciders is the number of policies that cache their decisions. A project has few.
const maxDeciders = 16

// VerifyDecisions decides every recorded round again under the policy that decided it, and
// compares the routes of the findings, the policy's input and the decision. It reports
// tampering, which is not an error. It ignores events that other processes record meanwhile.
// Engine.Verify checks the chains.
//
// progress receives the number of the latest verified event and that of the ledger's last
// one; it may be nil.
//
// # Errors
//
// policy-timeout, and errors of the ledger.
func (s *Set) VerifyDecisions(ctx context.Context, progress func(done, total int64)) (api.DecisionsReport, error) {
	l, err := s.opts.Ledger(ctx)
	if err != nil {
		return api.DecisionsReport{}, err
	}
	defer l.Close()
	events, total, err := eventSource{ledger: l}.decisions(ctx, time.Time{}, 0)
	if err != nil {
		return api.DecisionsReport{}, err
	}
	v := decisionVerifier{set: s, ledger: l, deciders: make(map[string]*replay.Decider), lost: make(map[routing.Identity]int)}
	var records recordReader
	err = inOrder(ctx, events,
		func(e ledger.Event) (parsedEvent, error) {
			d, err := records.read(e)
			e.Body = nil
			return parsedEvent{e, d, err}, nil
		},
		func(p parsedEvent) error {
			if err := v.verify(ctx, p); err != nil {
				return err
			}
			if progress != nil {
				progress(p.event.Seq, total)
			}
			return nil
		})
	return v.report, err
}

type parsedEvent struct {
	event    ledger.Event // without its body
	decision decisionRecord
	err      error
}

type decisionVerifier struct {
	set      *Set
	ledger   *ledger.Ledger
	report   api.DecisionsReport
	deciders map[string]*replay.Decider // by the policy's digest, nil for one that cannot be loaded
	lost     map[routing.Identity]int   // index in the report
}

func (v *decisionVerifier) problem(e ledger.Event, kind ledger.ProblemKind, format string, args ...any) {
	if len(v.report.Problems) == api.MaxDecisionProblems {
		v.report.Omitted++
		return
	}
	v.report.Problems = append(v.report.Problems,
		ledger.Problem{Task: e.Task, N: e.N, Seq: e.Seq, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

func (v *decisionVerifier) verify(ctx context.Context, p parsedEvent) error {
	v.report.Decisions++
	if p.err != nil {
		v.problem(p.event, api.ProblemRecord, "%v", p.err)
		return nil
	}
	d := p.decision
	decider, err := v.decider(ctx, d.Policy.Digest)
	if err != nil {
		return err
	}
	if decider == nil {
		v.addLost(d.Policy)
		return nil
	}
	policy := decider.Policy()
	if id := policy.Identity(); id.Name != d.Policy.Name || id.Version != d.Policy.Version || id.ADR != d.Policy.ADR {
		v.problem(p.event, api.ProblemPolicy, "it names its policy %s of %s, which is %s of %s", d.Policy, d.Policy.ADR, id, id.ADR)
	}
	for _, c := range d.Categories {
		to, known := policy.Route(c.Name)
		switch {
		case to != c.Route:
			v.problem(p.event, api.ProblemRoute, "findings of category %.80q (%d) were sent to %.80q, and %s sends them to %s", c.Name, c.Count, c.Route, policy, to)
		case known && c.Unknown:
			v.problem(p.event, api.ProblemRoute, "category %.80q is said to be unknown to %s, which knows it", c.Name, policy)
		case !known && !c.Unknown:
			v.problem(p.event, api.ProblemRoute, "category %.80q is said to be known to %s, which does not know it", c.Name, policy)
		}
	}
	return v.verifyDecision(ctx, p.event, d, decider)
}

func (v *decisionVerifier) verifyDecision(ctx context.Context, e ledger.Event, d decisionRecord, by *replay.Decider) error {
	now, err := by.Decide(ctx, d.Recorded)
	if errs.CodeOf(err) == errs.ReplayRecordInvalid {
		v.problem(e, api.ProblemRecord, "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	destination, _ := by.Policy().Destination(d.Decision.NextAction)
	switch {
	case now.Decision != d.Decision:
		v.problem(e, api.ProblemDecision, "it went to %s (%s), and %s sends it to %s (%s)",
			d.Decision.NextAction, d.Decision.Reason, by.Policy(), now.Decision.NextAction, now.Decision.Reason)
	case now.PolicyBar != d.PolicyBar || now.Bar != d.Bar:
		v.problem(e, api.ProblemDecision, "its bar was %q in a review with the bar %q, and %s gives it %q in one with %q", d.PolicyBar, d.Bar, by.Policy(), now.PolicyBar, now.Bar)
	case d.BarInput != nil && !sameInput(now.Input, d.Input):
		v.problem(e, api.ProblemDecision, "its input is not that of the findings that the bar %q leaves open", d.Bar)
	case routing.Kind(d.event.DestinationKind) != destination.Kind || d.stuck != task.IsStuckDestination(d.Decision.NextAction, string(destination.Kind)):
		v.problem(e, api.ProblemDecision, "%s is of kind %s for %s, and what followed was made of kind %.80q", d.Decision.NextAction, destination.Kind,
			by.Policy(), d.event.DestinationKind)
	case !canFollow(d, destination):
		v.problem(e, api.ProblemDecision, "%s cannot leave the task in round %d after round %d", d.Decision.NextAction, d.event.NextRound, d.Round)
	}
	return nil
}

// sameInput reports whether a policy sees no difference between two inputs.
func sameInput(a, b routing.Input) bool {
	for _, in := range []*routing.Input{&a, &b} {
		in.Routes = maps.Clone(in.Routes)
		maps.DeleteFunc(in.Routes, func(_ string, n int) bool { return n == 0 })
	}
	return reflect.DeepEqual(a, b)
}

// canFollow reports whether the recorded next round is possible. A decision that does not
// advance the round can still end the task if it was repeated too often.
func canFollow(d decisionRecord, to routing.Destination) bool {
	switch d.event.NextRound {
	case d.Round:
		return to.Kind == routing.Terminal || !to.AdvancesRound && d.Input.Verify != routing.Red
	case d.Round + 1:
		return to.Kind != routing.Terminal
	default:
		return false
	}
}

// decider returns the policy with a digest, nil if it is lost or this program refuses it.
func (v *decisionVerifier) decider(ctx context.Context, digest string) (*replay.Decider, error) {
	if d, ok := v.deciders[digest]; ok {
		return d, nil
	}
	var d *replay.Decider
	p, err := v.set.ByDigest(ctx, v.ledger, digest)
	switch {
	case IsGone(err):
	case errs.CodeOf(err) == errs.LedgerTampered:
		v.problem(ledger.Event{Task: Chain}, api.ProblemPolicy, "%v", err)
	case err != nil:
		return nil, err
	default:
		d = replay.NewDecider(p)
	}
	if len(v.deciders) == maxDeciders {
		clear(v.deciders)
	}
	v.deciders[digest] = d
	return d, nil
}

func (v *decisionVerifier) addLost(id routing.Identity) {
	v.report.Unchecked++
	i, ok := v.lost[id]
	if !ok {
		if len(v.lost) == api.MaxDecisionProblems {
			return
		}
		i = len(v.report.Lost)
		v.lost[id] = i
		v.report.Lost = append(v.report.Lost, replay.Used{Policy: id})
	}
	v.report.Lost[i].Decisions++
}
