package host

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// The kinds of problems that VerifyDecisions finds, beside those of Verify.
const (
	// ProblemRecord: the record of a decision cannot be read, or contradicts itself.
	ProblemRecord ledger.ProblemKind = "record"
	// ProblemPolicy: a decision names a policy otherwise than that policy does itself,
	// or what is kept of it was changed.
	ProblemPolicy ledger.ProblemKind = "policy"
	// ProblemRoute: the policy sends a category elsewhere than it was sent.
	ProblemRoute ledger.ProblemKind = "route"
	// ProblemDecision: the policy decides otherwise than was recorded.
	ProblemDecision ledger.ProblemKind = "decision"
)

// maxDecisionProblems is how many problems, and how many lost policies, a
// DecisionsReport lists.
const maxDecisionProblems = 1000

// maxJudges is how many policies remember what they decided. A project has a few.
const maxJudges = 16

// DecisionsReport is what VerifyDecisions found.
type DecisionsReport struct {
	// Decisions is how many the ledger has.
	Decisions int64 `json:"decisions"`
	// Lost are the policies that are neither built in nor kept, in the order of their
	// first decision, at most 1,000 of them. Nobody can tell whether they decided what
	// is recorded: Unchecked decisions.
	Lost      []replay.Used `json:"lost"`
	Unchecked int64         `json:"unchecked,omitzero"`
	// Problems are the signs of tampering, at most 1,000 of them, in the order of
	// recording. Omitted counts the others.
	Problems []ledger.Problem `json:"problems"`
	Omitted  int64            `json:"omitted,omitzero"`
}

// Sound reports whether every decision was checked and is what its policy decides.
func (r DecisionsReport) Sound() bool { return len(r.Problems) == 0 && r.Unchecked == 0 }

// VerifyDecisions decides every recorded round again, by the very policy that decided
// it, and compares: where each finding was sent, what the policy saw of them, and
// what it made of that. Tampering is a result and no error. What others record
// meanwhile is left out. Verify tells whether the record itself is whole.
//
// progress is told the number of the event that was checked last, and that of the
// ledger's last one; nil for nobody.
//
// # Errors
//
// Those of the ledger, and policy-timeout.
func (e *Engine) VerifyDecisions(ctx context.Context, progress func(done, total int64)) (DecisionsReport, error) {
	l, err := e.ledger(ctx)
	if err != nil {
		return DecisionsReport{}, err
	}
	defer l.Close()
	events, total, err := records{ledger: l}.decided(ctx, time.Time{}, 0)
	if err != nil {
		return DecisionsReport{}, err
	}
	a := auditor{engine: e, ledger: l, judges: make(map[string]*judge), lost: make(map[policies.Identity]int)}
	err = inOrder(ctx, events,
		func(event ledger.Event) (attempt, error) {
			r, err := readRound(event)
			event.Body = nil
			return attempt{event, r, err}, nil
		},
		func(t attempt) error {
			if err := a.check(ctx, t); err != nil {
				return err
			}
			if progress != nil {
				progress(t.event.Seq, total)
			}
			return nil
		})
	return a.report, err
}

// attempt is what came of reading an event.
type attempt struct {
	event ledger.Event // without its body
	round recordedRound
	err   error
}

// auditor checks decisions, one after the other.
type auditor struct {
	engine *Engine
	ledger *ledger.Ledger
	report DecisionsReport
	judges map[string]*judge // by the policy's digest
	lost   map[policies.Identity]int
}

// judge is a policy that decides again. A nil one stands for a policy that is lost.
type judge struct {
	policy  *policies.Policy
	decider *replay.Decider
}

func (a *auditor) problem(e ledger.Event, kind ledger.ProblemKind, format string, args ...any) {
	if len(a.report.Problems) == maxDecisionProblems {
		a.report.Omitted++
		return
	}
	a.report.Problems = append(a.report.Problems,
		ledger.Problem{Task: e.Task, N: e.N, Seq: e.Seq, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

func (a *auditor) check(ctx context.Context, t attempt) error {
	a.report.Decisions++
	if t.err != nil {
		a.problem(t.event, ProblemRecord, "%v", t.err)
		return nil
	}
	r := t.round
	j, err := a.judge(ctx, r.Policy.Digest)
	if err != nil {
		return err
	}
	if j == nil {
		a.lose(r.Policy)
		return nil
	}
	if id := j.policy.Identity(); id.Name != r.Policy.Name || id.Version != r.Policy.Version || id.ADR != r.Policy.ADR {
		a.problem(t.event, ProblemPolicy, "it names its policy %s of %s, which is %s of %s", named(r.Policy), r.Policy.ADR, named(id), id.ADR)
	}
	for _, c := range r.Categories {
		to, known := j.policy.Route(c.Name)
		switch {
		case to != c.Route:
			a.problem(t.event, ProblemRoute, "findings of category %.80q (%d) were sent to %.80q, and %s sends them to %s", c.Name, c.Count, c.Route, j.policy, to)
		case known && c.Unknown:
			a.problem(t.event, ProblemRoute, "category %.80q is said to be unknown to %s, which knows it", c.Name, j.policy)
		case !known && !c.Unknown:
			a.problem(t.event, ProblemRoute, "category %.80q is said to be known to %s, which does not know it", c.Name, j.policy)
		}
	}
	return a.decide(ctx, t.event, r, j)
}

// decide lets the policy decide on what it saw.
func (a *auditor) decide(ctx context.Context, e ledger.Event, r recordedRound, j *judge) error {
	now, err := j.decider.Decide(ctx, r.Recorded)
	if errs.CodeOf(err) == errs.ReplayRecordInvalid {
		a.problem(e, ProblemRecord, "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if now.Decision != r.Decision {
		a.problem(e, ProblemDecision, "it went to %s (%s), and %s sends it to %s (%s)",
			r.Decision.NextAction, r.Decision.Reason, j.policy, now.Decision.NextAction, now.Decision.Reason)
		return nil
	}
	destination, _ := j.policy.Destination(r.Decision.NextAction)
	if r.event.DestinationKind != destination.Kind || r.decision.Stuck != task.IsStuckDestination(r.Decision.NextAction, string(destination.Kind)) {
		a.problem(e, ProblemDecision, "%s is of kind %s for %s, and what followed was made of kind %.80q", r.Decision.NextAction, destination.Kind,
			j.policy, r.event.DestinationKind)
		return nil
	}
	if !follows(r, destination) {
		a.problem(e, ProblemDecision, "%s cannot leave the task in round %d after round %d", r.Decision.NextAction, r.event.NextRound, r.Round)
	}
	return nil
}

// follows reports whether a round can be followed by the one that was recorded. One
// that nothing advances may still come to an end, by how often it was decided.
func follows(r recordedRound, to policies.Destination) bool {
	switch r.event.NextRound {
	case r.Round:
		return to.Kind == policies.Terminal || !to.AdvancesRound && r.Input.Verify != policies.Red
	case r.Round + 1:
		return to.Kind != policies.Terminal
	default:
		return false
	}
}

// judge returns the policy with a digest, nil where it is lost.
func (a *auditor) judge(ctx context.Context, digest string) (*judge, error) {
	if j, ok := a.judges[digest]; ok {
		return j, nil
	}
	var j *judge
	p, err := a.engine.policyBy(ctx, a.ledger, digest)
	switch errs.CodeOf(err) {
	case errs.PolicyLost:
	case errs.LedgerTampered:
		a.problem(ledger.Event{Task: policiesChain}, ProblemPolicy, "%v", err)
	default:
		if err != nil {
			return nil, err
		}
		j = &judge{p, replay.NewDecider(p)}
	}
	if len(a.judges) == maxJudges {
		clear(a.judges)
	}
	a.judges[digest] = j
	return j, nil
}

// lose counts a decision of a lost policy.
func (a *auditor) lose(id policies.Identity) {
	a.report.Unchecked++
	i, ok := a.lost[id]
	if !ok {
		if len(a.lost) == maxDecisionProblems {
			return
		}
		i = len(a.report.Lost)
		a.lost[id] = i
		a.report.Lost = append(a.report.Lost, replay.Used{Policy: id})
	}
	a.report.Lost[i].Decisions++
}
