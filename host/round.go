package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Round runs a task's round to its decision and records it: verification, then
// the critic, which is spawned unless its reports are given, then the policy. When
// it returns, the decision is durable; when it fails, the task is as it was before,
// except that a green verification of the round has ended once a command verifies
// it again, and that agents that ran are on record. A decision to commit commits
// the task.
//
// A round that spawns does more (see conductor): it hands findings on to the
// executor, and has researchers look for what is missing. Where its agent is to be
// run in some other way, or a budget is exhausted, its Decision says so, and no
// policy was asked.
//
// # Errors
//
// Besides those of reports, plugins, policies, verification, spawns and the ledger:
// the task's own (task-waiting and so on), report-wrong-task and report-wrong-round,
// round-shifted where another process decided the round first, and
// round-running where another process runs it.
func (e *Engine) Round(ctx context.Context, id string, req Request) (Decision, error) {
	d, err := e.round(ctx, id, req)
	return d, e.failed(ctx, id, err)
}

func (e *Engine) round(ctx context.Context, id string, req Request) (Decision, error) {
	o, err := e.open(ctx, id, req)
	defer o.close()
	if err != nil {
		return Decision{}, err
	}
	agents := o.config.Spawn.For(criticName).Named || o.config.Spawn.For(researcherName).Named
	// A project that has its reports made by commands has a critic if it names one.
	critic := req.Spawn || req.Adapter != "" || len(req.Reports) == 0 && (len(o.config.Reports.Commands) == 0 || o.config.Spawn.For(criticName).Named)
	if critic || agents || len(o.config.Reports.Commands) > 0 {
		return e.conduct(ctx, o, req, critic)
	}
	return e.decideRound(ctx, o, req, conduct{verify: true, final: true})
}

// Review decides a round as Round does, as a phase of its own: it wants the
// critic's stamp, runs no verification, and leaves the commit to Commit.
func (e *Engine) Review(ctx context.Context, id string, req Request) (Decision, error) {
	o, err := e.open(ctx, id, req)
	defer o.close()
	var d Decision
	if err == nil {
		d, err = e.decideRound(ctx, o, req, conduct{phases: []task.Phase{task.Review}})
	}
	return d, e.failed(ctx, id, err)
}

// conduct is how a round is decided.
type conduct struct {
	// verify says that verification may be run.
	verify bool
	// final says that a decision to commit commits the task.
	final bool
	// phases are those whose agents' stamps are wanted.
	phases []task.Phase
}

// opening is a task whose round is to be decided, with what that takes on its way.
// Whoever asked for it must close it, also after an error.
type opening struct {
	*session
	config  project.Config
	loading *loading
}

// open begins to decide a round.
func (e *Engine) open(ctx context.Context, id string, req Request) (o opening, err error) {
	// What an agent is run for is not for it to decide.
	if err := childenv.Inside(e.environ); err != nil {
		return o, err
	}
	if o.config, err = e.plugins.Config(ctx, req.Reports...); err != nil {
		return o, err
	}
	if err := task.CheckID(id); err != nil {
		return o, err
	}
	o.loading = e.load(ctx, req, o.config)
	if o.session, err = e.begin(ctx, id); err != nil {
		return o, err
	}
	o.prompt = req.Prompt
	if o.rev = req.Base; o.rev != "" {
		_, err = o.base(ctx) // One that is not there is refused before any work.
	}
	return o, err
}

func (o opening) close() {
	if o.session != nil {
		o.session.close()
	}
	if o.loading != nil {
		o.loading.cancel()
	}
}

func (e *Engine) decideRound(ctx context.Context, s opening, req Request, how conduct) (Decision, error) {
	config := s.config
	if err := s.undisturbed(ctx); err != nil {
		return Decision{}, err
	}
	// Where the draft's own phase came last, it has passed its gate.
	if config.Evidence == project.EvidenceStamps && (how.final || s.status.Phase != task.Draft) {
		how.phases = []task.Phase{task.Draft, task.Review}
	}
	round, err := task.EnterRound(s.status.State, task.RoundEntry{
		Expected: req.Round, MaxRounds: req.MaxRounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds),
		Phases: how.phases, Force: req.Force,
	})
	if err != nil {
		s.repair(ctx, err)
		return Decision{}, s.about(err)
	}
	policy, all, err := s.loading.wait(ctx)
	if err != nil {
		return Decision{}, err
	}
	if policy, err = e.policies.CheckAdopted(ctx, s.ledger, policy); err != nil {
		return Decision{}, err
	}
	if _, err := pluginset.CheckSubject(all, s.id, round.Number); err != nil {
		return Decision{}, err
	}
	if len(all) == 0 {
		return Decision{}, noEvidence()
	}
	if how.verify {
		if err := s.mayVerify(req.Verify, config); err != nil {
			return Decision{}, err
		}
	}
	if how.verify && runsVerification(req.Verify, config) {
		// A verification that is killed, or loses a race, may have been red.
		if err := s.redraft(ctx, task.BeginVerification{Same: true}); err != nil {
			return Decision{}, s.raced(ctx, round.Number, err)
		}
	}
	verification, err := s.verification(ctx, req.Verify, config, how.verify)
	if err != nil {
		return Decision{}, err
	}
	d, err := s.decide(ctx, ruling{policy: policy, evidence: all, round: round, verification: verification, final: how.final, config: config})
	if err != nil {
		return Decision{}, s.raced(ctx, round.Number, err)
	}
	if d.NextAction == policies.Commit && !how.final {
		d.Missing = append([]string{}, s.status.MissingForCommit(config.Verify != nil)...)
	}
	return d, nil
}

// ruling is what a round of a task is decided on.
type ruling struct {
	policy       policyset.Selection
	evidence     []pluginset.Report
	round        task.Round
	verification Verification
	final        bool
	config       project.Config
	// own are findings of the host's own, which join those of the reports, and run
	// is the spawn that the review rests on, "" for none.
	own []finding.Finding
	run string
	// then is asked before the decision is recorded, nil for nobody.
	then func(*Decision) error
}

// decide lets the policy decide a round, and records what it says. Where the task
// has changed meanwhile, the error is ledger-conflict.
func (s *session) decide(ctx context.Context, r ruling) (Decision, error) {
	q := inquiry{
		policy: r.policy.Policy, evidence: r.evidence, verify: r.verification.Outcome,
		round: r.round.Number, maxRounds: r.round.MaxRounds,
	}
	// Where the critic came to nothing nobody has reviewed the draft, whatever others
	// report: what was found before is not resolved.
	reviewed := len(r.evidence) > 0 && len(r.own) == 0
	if reviewed {
		q.audits = s.auditFindings()
		q.compare = func(findings []finding.Finding) (task.Progress, error) {
			return compare(ctx, s.ledger, s.id, s.status.State, findings)
		}
	}
	q.audits = append(q.audits, r.own...)
	d, timing, err := q.decide(ctx)
	if err != nil {
		return Decision{}, err
	}
	if !reviewed {
		if d.StillOpen, err = s.stillOpen(ctx); err != nil {
			return Decision{}, err
		}
	}
	destination, _ := r.policy.Destination(d.NextAction)
	if destination.Kind == policies.Human {
		d.Questions = questions(r.policy.Policy, d, s.now())
	}
	d.Force = r.round.Force
	outcome := task.DecideRound{
		Round: r.round, NextAction: d.NextAction, Reason: d.Reason, Policy: r.policy.String(),
		DestinationKind: string(destination.Kind), AdvancesRound: destination.AdvancesRound,
		FindingCount: len(d.Findings), Reviewed: reviewed, Verify: string(r.verification.Outcome),
		MustVerify: r.config.Verify != nil, Final: r.final, Evidence: bound(r.evidence), Stalled: d.StalledRounds, Questions: d.Questions,
	}
	if r.verification.Outcome != policies.Absent {
		d.Verification = &r.verification
		outcome.Verification = &r.verification.Verification
	}
	s.policy = &r.policy
	return s.record(ctx, outcome, d, timing, r)
}

// record appends a decision to the task's chain, with what r.then adds to it, unless
// the task has moved on since it was looked at. An executor's hand-off is there before
// the decision is.
func (s *session) record(ctx context.Context, o task.DecideRound, d Decision, timing *event.Timing, r ruling) (Decision, error) {
	change, err := task.Decide(s.status.State, o)
	if err != nil {
		return Decision{}, s.about(err)
	}
	d.TaskID = s.id
	if decided, ok := change.(task.RoundDecided); ok {
		d.NextRound = decided.NextRound
	}
	if err := s.add(change, event.Full{Decision: &d, Timing: timing}); err != nil {
		return Decision{}, err
	}
	var handOff func() error
	if d.NextAction == actionExecutor {
		path := handoffPath(s.id, d.NextRound)
		d.Handoff = &path
		handOff = func() error {
			_, err := s.handOff(r.config, d)
			return err
		}
	}
	if r.then != nil {
		if err := r.then(&d); err != nil {
			return Decision{}, err
		}
	}
	at, err := s.commit(ctx, handOff)
	if err != nil {
		return Decision{}, err
	}
	d.Event = at
	return d, nil
}

// bound lists the digests of those reports that name their round: no two honest
// reports of one round are the same bytes.
func bound(all []pluginset.Report) []string {
	var digests []string
	for _, ev := range all {
		if ev.Result.Round != nil && !slices.Contains(digests, ev.Digest) {
			digests = append(digests, ev.Digest)
		}
	}
	return digests
}

// auditFindings are the task's unrouted violations as findings, each with the
// stamp that raised it as its source.
func (s *session) auditFindings() []finding.Finding {
	found := s.status.AuditFindings()
	for i := range found {
		raw, err := json.Marshal(s.status.Violations[i], json.Deterministic(true))
		if err != nil {
			continue // Cannot happen: it is numbers and texts of our own.
		}
		found[i].Sources = []finding.Source{{Critic: finding.AuditCritic, Plugin: finding.AuditCritic, Report: digestOf(raw), Ref: "", Raw: raw}}
	}
	return found
}

// digestOf is the digest of a text of our own, in the form of a report's.
func digestOf(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }
