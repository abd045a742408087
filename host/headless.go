package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// patience is how long a spawn waits for others of its agent to end.
const patience = time.Hour

// conductor runs a task's whole round: it verifies the draft, spawns the critic,
// decides, and has researchers look for what is missing.
//
// What has run is known from the task's events: an intent before each process, a
// receipt after it. So a round that was killed goes on where it was. A green
// verification and a critic's report count again as long as the working tree is
// the one that they are about.
type conductor struct {
	book
	staff
	req Request
	// critic says that the critic is spawned.
	critic bool
	// unstated says that the critic was not told what the task is.
	unstated bool
	// researchers says that the project names researchers, and that they can be run.
	researchers bool
	round       task.Round
	policy      policyset.Selection
	// tree is the digest of the working tree, "" before anybody looked.
	tree string
	// spawns are those of this command.
	spawns []SpawnSummary
	// empty says that the draft, as the critic got it, differs in nothing from its base.
	empty bool
}

// conduct runs a round that runs its critic itself, or commands for reports, or that
// may need researchers.
func (e *Engine) conduct(ctx context.Context, o opening, req Request, critic bool) (Decision, error) {
	c := &conductor{book: book{session: o.session, config: o.config}, req: req, critic: critic}
	if err := c.enter(); err != nil {
		c.repair(ctx, err)
		return Decision{}, c.about(err)
	}
	policy, given, err := o.loading.wait(ctx)
	if err != nil {
		return Decision{}, err
	}
	if c.policy, err = e.policies.CheckAdopted(ctx, c.ledger, policy); err != nil {
		return Decision{}, err
	}
	if _, err := pluginset.CheckSubject(given, c.id, c.round.Number); err != nil {
		return Decision{}, err
	}
	if err := c.mayVerify(req.Verify, c.config); err != nil {
		return Decision{}, err
	}
	if err := c.mayReport(c.config); err != nil {
		return Decision{}, err
	}
	if !critic {
		c.researchers = c.config.Spawn.For(researcherName).Named && e.available(ctx, c.config, researcherName, "") == nil
		return c.run(ctx, given)
	}
	if err := e.able(ctx, c.config, req.Adapter); err != nil {
		if left := c.undisturbed(ctx); left != nil {
			return Decision{}, left
		}
		return c.withoutAgent(ctx, given, err)
	}
	return c.run(ctx, given)
}

// run runs a round that may be run: alone, after what an earlier command left.
func (c *conductor) run(ctx context.Context, given []pluginset.Report) (Decision, error) {
	var err error
	if c.staff, err = c.Engine.staff(ctx, c.config, c.id); err != nil {
		return Decision{}, err
	}
	held, err := c.alone(ctx)
	if err != nil {
		return Decision{}, err
	}
	defer c.free(held)
	if err := c.recovered(ctx); err != nil {
		return Decision{}, err
	}
	if err := c.lost(ctx, func(task.Run) bool { return true }); err != nil {
		return Decision{}, err
	}
	if d, pending, err := c.unfinished(ctx); err != nil || pending {
		return d, err
	}
	if err := c.enter(); err != nil {
		return Decision{}, c.about(err)
	}
	return c.decideWith(ctx, given)
}

// able fails where the critic cannot be run, nor handed to somebody else. It
// changes nothing.
func (e *Engine) able(ctx context.Context, config project.Config, with string) error {
	if _, err := e.agent(criticName); err != nil {
		return err
	}
	return e.available(ctx, config, criticName, with)
}

// withoutAgent decides a round whose critic cannot be run: on a red verification,
// which needs none. Otherwise it fails with why and leaves nothing behind.
func (c *conductor) withoutAgent(ctx context.Context, given []pluginset.Report, why error) (Decision, error) {
	if runsVerification(c.req.Verify, c.config) {
		// A verification that is killed, or loses a race, may have been red.
		if err := c.redraft(ctx, task.BeginVerification{Same: true}); err != nil {
			return Decision{}, c.raced(ctx, c.round.Number, err)
		}
	}
	v, err := c.verification(ctx, c.req.Verify, c.config, true)
	if err != nil {
		return Decision{}, err
	}
	if v.Outcome != policies.Red {
		return Decision{}, why
	}
	return c.decided(ctx, ruling{
		policy: c.policy, evidence: given, round: c.round, verification: v, final: true, config: c.config,
	})
}

// enter finds out which round is to be decided, and whether what it needs before a
// review is there.
func (c *conductor) enter(more ...task.Phase) (err error) {
	var phases []task.Phase
	if c.config.Evidence == project.EvidenceStamps {
		phases = append([]task.Phase{task.Draft}, more...)
	}
	c.round, err = task.EnterRound(c.status.State, task.RoundEntry{
		Expected: cmp.Or(c.round.Number, c.req.Round), MaxRounds: c.req.MaxRounds, Fallback: cmp.Or(c.config.MaxRounds, task.DefaultRounds),
		Phases: phases, Force: c.req.Force,
	})
	return err
}

// decideWith runs the round to its decision.
func (c *conductor) decideWith(ctx context.Context, given []pluginset.Report) (Decision, error) {
	r := ruling{
		policy: c.policy, evidence: given, round: c.round, verification: Verification{Outcome: policies.Absent},
		final: true, config: c.config,
	}
	var review review
	var err error
	if c.critic {
		review, err = c.condemned(ctx)
	}
	if err == nil && review.failure == nil {
		r.verification, err = c.verified(ctx)
		// Nobody reviews a draft that is known to be wrong.
		if err == nil && r.verification.Outcome != policies.Red {
			var reports []pluginset.Report
			if reports, err = c.commandReports(ctx, r.verification); err == nil && c.critic {
				review, err = c.review(ctx, &r.verification)
				again := slices.ContainsFunc(c.spawns, func(s SpawnSummary) bool { return s.Why == spawner.WhyRepeated })
				if err == nil && again && r.verification.Outcome != policies.Red {
					reports, err = c.commandReports(ctx, r.verification) // The draft has changed since.
				}
			}
			r.evidence = append(r.evidence, reports...)
			if err == nil && !c.critic && len(r.evidence) == 0 {
				err = errs.New(errs.NoEvidence, "no command for a report concerns the files that the draft changes").
					WithHint("leave paths out of one of the reports in " + project.ConfigFile + ", or add --spawn or --report FILE")
			}
		}
	}
	switch {
	case errs.CodeOf(err) == errs.BudgetExhausted:
		return c.exhausted(ctx, err)
	case err != nil:
		return Decision{}, err
	case review.handBack != nil:
		d := c.undecided(ActionHandBack, ReasonHandBack)
		d.ManualFallback = review.handBack
		if r.verification.Outcome != policies.Absent {
			d.Verification = &r.verification
		}
		return d, nil
	case review.failure != nil:
		r.own = []finding.Finding{*review.failure}
	case review.run != "":
		r.evidence = append(r.evidence, review.evidence)
	}
	r.run = review.run
	d, err := c.decided(ctx, r)
	if err != nil {
		return Decision{}, err
	}
	if c.researches(d) {
		return c.research(ctx, d)
	}
	return d, nil
}

// researches says that a decision's work is for researchers, and not for whoever a
// policy may call so.
func (c *conductor) researches(d Decision) bool {
	return d.NextAction == actionResearcher && c.status.Status == task.Open && (c.critic || c.researchers)
}

// decided lets the policy decide. What others recorded meanwhile is no reason to
// lose a review that is still of this round and this draft.
func (c *conductor) decided(ctx context.Context, r ruling) (Decision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.look(ctx); err != nil {
			return Decision{}, err
		}
		if max(c.status.Round, 1) != c.round.Number {
			return Decision{}, lostRace(c.round.Number, c.status.State)
		}
		run := c.status.LatestRun(task.RoleCritic, 0)
		switch tree := r.verification.Tree; {
		case r.run == "":
		case run == nil || run.Intent.Run != r.run:
			return Decision{}, lostRace(c.round.Number, c.status.State)
		case tree != "" && run.Tree != tree:
			return Decision{}, errs.New(errs.RoundShifted, "the working tree changed between the verification and the review of round %d", c.round.Number).
				With("expected", c.round.Number).With("actual", c.status.Round)
		}
		if len(r.evidence) > 0 && len(r.own) == 0 {
			if err := c.enter(task.Review); err != nil {
				return Decision{}, c.about(err)
			}
			r.round = c.round
		}
		r.then = c.follow
		d, err := c.decide(ctx, r)
		if errs.CodeOf(err) == errs.LedgerConflict {
			continue
		}
		if d.Budget != "" {
			d.NextAction, d.Reason, d.Stuck = stuckAction, task.ReasonBudget, true
		}
		return d, err
	}
}

// follow prepares what comes after a decision, before it is recorded: the intents of
// researchers.
func (c *conductor) follow(d *Decision) error {
	d.Spawns, d.EmptyDraft, d.WithoutCriteria = slices.Clone(c.spawns), c.empty, c.unstated
	if !c.researches(*d) {
		return nil
	}
	err := c.announce(c.config.Researchers)
	if errs.CodeOf(err) == errs.BudgetExhausted {
		d.Budget = err.Error()
		return c.halt(err)
	}
	return err
}

// halt puts the task aside because of a budget that why names.
func (c *conductor) halt(why error) error {
	told := event.Full{By: bySwitchyard}
	if f, ok := errors.AsType[*errs.Error](why); ok {
		told.Budget, _ = f.Details["unit"].(string)
	}
	return c.apply(task.StopTask{Reason: task.ReasonBudget, By: bySwitchyard, FindingCount: -1}, told)
}

// exhausted puts a task aside whose budget does not cover what is needed next.
func (c *conductor) exhausted(ctx context.Context, why error) (Decision, error) {
	at, err := c.write(ctx, func() error {
		if max(c.status.Round, 1) != c.round.Number {
			return lostRace(c.round.Number, c.status.State)
		}
		return c.halt(why)
	})
	if err != nil {
		return Decision{}, err
	}
	d := c.undecided(stuckAction, task.ReasonBudget)
	d.Stuck, d.Budget, d.Event = true, why.Error(), at
	return d, nil
}

// undecided is where a round goes that no policy was asked about.
func (c *conductor) undecided(next, reason string) Decision {
	d := Decision{
		TaskID: c.id, Round: c.round.Number, NextRound: c.round.Number, MaxRounds: c.round.MaxRounds, NextAction: next, Reason: reason,
		Findings: []finding.Finding{}, Policy: c.policy.Identity(), Spawns: c.spawns, EmptyDraft: c.empty,
	}
	setRouting(&d)
	d.Routing.NextDestination = next
	return d
}
