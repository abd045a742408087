package round

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/linediff"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// roundRunner runs a whole round of a task: it verifies the draft, spawns the critic,
// decides, and runs researchers.
//
// The task has an event before each process, its intent, and one after it, its receipt, so a
// killed round can resume. A green verification and a critic's report count again if the
// working tree has not changed since.
type roundRunner struct {
	tx       *tasktx.Tx
	recorder *spawns.Recorder
	agents   spawns.Runner
	config   project.Config
	req      api.Request
	critic   bool // the round spawns the critic
	// researchers is set if the project names researchers that can run.
	researchers bool
	// driven is set if Run drives the task: usage limits park it, and if a budget runs out, the
	// round fails.
	driven         bool
	round          task.Round
	policy         policyset.Selection
	contradictions bool // the policy routes them
	// evidence is what the round is decided on, as far as it is known.
	evidence Evidence
	// shot is a snapshot of the working tree, nil once a process that we started may have
	// changed the tree.
	shot *worktree.Snapshot
	// written is the git tree of the draft that writeTree stored last, "" if there is none, and
	// writtenOf is the digest of the snapshot before that, "" if there was none.
	written, writtenOf string
	// unwritten is the error of writing it for the latest diff of the critic.
	unwritten error
	// judged is the digest of the working tree that the verification and the report commands
	// were about, "" if there were none.
	judged string
	// tree returns the git tree of the draft, for a decision to commit. It is nil if the reports
	// do not say which files they are about.
	tree func(context.Context) (string, error)
	// carry is set if the task's home decides. Then carried is the evidence for it, nil if the
	// round is not to be decided.
	carry   bool
	carried *Evidence
}

// runHeadless runs a round that spawns its critic, runs report commands, or may need
// researchers. d is nil unless Run drives the task.
func (e *Engine) runHeadless(ctx context.Context, in roundInputs, req api.Request, critic bool, d *DrivenRound) (api.RoundResult, error) {
	rr := &roundRunner{tx: in.tx, recorder: &spawns.Recorder{Tx: in.tx, Config: in.config}, config: in.config, req: req, critic: critic, driven: d != nil}
	if d != nil {
		rr.shot, rr.recorder.Jobs, rr.carry, rr.contradictions = d.Tree, d.Jobs, d.Carry, d.Contradictions
		defer func() { d.Tree, d.Evidence, d.Spawns = rr.shot, rr.carried, rr.recorder.Spawns }()
	}
	if err := rr.enter(); err != nil {
		rr.tx.RefreshStateMD(ctx, err)
		return api.RoundResult{}, rr.tx.WithTaskID(err)
	}
	rr.evidence.Verification.Outcome = policies.Absent
	var err error
	if !rr.carry {
		if rr.policy, rr.evidence.Reports, err = in.load(ctx, rr.round.Number); err != nil {
			return api.RoundResult{}, err
		}
		_, rr.contradictions = rr.policy.Route(finding.CategoryContradiction)
	}
	if critic || len(rr.evidence.Reports) == 0 { // A report that the caller gave does not say which files it is about.
		rr.tree = rr.reviewedTree
	}
	if err := cmp.Or(verification.CheckAllowed(rr.tx, req.Verify, rr.config), checkMayReport(rr.tx, rr.config)); err != nil {
		return api.RoundResult{}, err
	}
	if !critic {
		rr.researchers = rr.config.Spawn.For(researcherName).Named && agents.CheckAvailable(ctx, e.project, rr.config, researcherName, "", profile.Readonly) == nil
		return rr.run(ctx)
	}
	if err := CheckCritic(ctx, e.project, rr.config, req.Adapter); err != nil { // Nothing has changed yet.
		if left := spawns.CheckNotRunning(ctx, rr.tx); left != nil {
			return api.RoundResult{}, left
		}
		return rr.withoutAgent(ctx, err)
	}
	return rr.run(ctx)
}

// CheckCritic fails if a project's critic cannot be run. adapter is the one that the caller names,
// or "".
func CheckCritic(ctx context.Context, p *core.Project, config project.Config, adapter string) error {
	if _, err := spawns.FindAgent(p, criticName); err != nil {
		return err
	}
	return agents.CheckAvailable(ctx, p, config, criticName, adapter, profile.Report)
}

// run runs the round under its lock. It first resumes the research of a killed command.
func (rr *roundRunner) run(ctx context.Context) (r api.RoundResult, err error) {
	err = rr.recorder.WithAgents(ctx, func(runner spawns.Runner) (err error) {
		rr.agents = runner
		var pending bool
		if r, pending, err = rr.resumeResearch(ctx); err != nil || pending {
			return err
		}
		if err := rr.enter(); err != nil {
			return rr.tx.WithTaskID(err)
		}
		r, err = rr.reviewAndDecide(ctx)
		return err
	})
	return r, err
}

// withoutAgent decides a round without its critic, which cannot run, if the verification is
// red. Otherwise it fails with why.
func (rr *roundRunner) withoutAgent(ctx context.Context, why error) (r api.RoundResult, err error) {
	if rr.evidence.Verification, err = verification.Again(ctx, rr.tx, rr.req.Verify, rr.config, rr.round.Number); err != nil {
		return r, err
	}
	if !rr.isRed() {
		return r, why
	}
	return rr.conclude(ctx)
}

func (rr *roundRunner) isRed() bool { return rr.evidence.Verification.Outcome == policies.Red }

// enter determines which round to decide and checks the evidence that a review requires.
func (rr *roundRunner) enter(more ...task.Phase) (err error) {
	var phases []task.Phase
	if rr.config.Attestations {
		phases = more
		if rr.tx.Status.Branch == nil || !rr.tx.Status.IsUnreviewed() { // The draft of an earlier round has no attestation in this one.
			phases = append([]task.Phase{task.Draft}, more...)
		}
	}
	rr.round, err = task.EnterRound(rr.tx.Status.State, task.RoundEntry{
		Expected: cmp.Or(rr.round.Number, rr.req.Round), MaxRounds: rr.req.MaxRounds, Fallback: rr.config.MaxRounds,
		HardCap: rr.config.HardCap, Phases: phases, Force: rr.req.Force,
	})
	return err
}

// reviewAndDecide reviews and decides the draft, and runs the researchers that the decision asks for.
func (rr *roundRunner) reviewAndDecide(ctx context.Context) (api.RoundResult, error) {
	fallback, err := rr.reviewDraft(ctx)
	switch {
	case errs.CodeOf(err) == errs.BudgetExhausted:
		return rr.stopOnBudget(ctx, err)
	case err != nil:
		return api.RoundResult{}, err
	case fallback != nil:
		d := rr.undecided(api.ActionManualFallback, api.ReasonManualFallback)
		if rr.evidence.Verification.Outcome != policies.Absent {
			d.Verification = &rr.evidence.Verification
		}
		return api.RoundResult{Decision: d, ManualFallback: fallback}, nil
	}
	result, err := rr.conclude(ctx)
	if err != nil || !rr.needsResearch(result.Decision) {
		return result, err
	}
	return rr.research(ctx, result.Decision)
}

// reviewDraft verifies the draft and, unless it is red, runs the report commands and the
// critic. It adds their results to the evidence. It returns a fallback if the caller must run
// the critic.
func (rr *roundRunner) reviewDraft(ctx context.Context) (*api.ManualFallback, error) {
	ev := &rr.evidence
	if rr.critic {
		if err := rr.addRecordedFailure(ctx); err != nil || ev.Critic != nil {
			return nil, err
		}
	}
	var err error
	if ev.Verification, err = rr.verifyDraft(ctx); err != nil || rr.isRed() {
		return nil, err
	}
	given := ev.Reports
	reports, err := rr.commandReports(ctx)
	if err != nil {
		return nil, err
	}
	ev.Reports = slices.Concat(given, reports)
	switch {
	case !rr.critic && len(ev.Reports) == 0:
		return nil, errs.New(errs.NoEvidence, "no command for a report concerns the files that the draft changes").
			WithHint("leave paths out of one of the reports in " + project.ConfigFile + ", or give critic an adapter under spawn.agents there")
	case !rr.critic:
		return nil, nil
	}
	own, fallback, err := rr.review(ctx)
	switch {
	case err != nil || fallback != nil:
		return fallback, err
	case rr.isRed(): // The other reports are about an earlier draft.
		ev.Reports = given
		return nil, nil
	}
	if slices.ContainsFunc(rr.recorder.Spawns, func(s api.SpawnSummary) bool { return s.Why == spawner.WhyRepeated }) {
		rr.judged = ev.Verification.Tree // The draft has changed since.
		reports, err = rr.commandReports(ctx)
	}
	ev.Reports = slices.Concat(given, reports, own)
	return nil, err
}

// needsResearch reports whether the engine's researchers act on a decision; a policy may use
// the same name for another destination. In Run they are a separate step.
func (rr *roundRunner) needsResearch(d api.Decision) bool {
	return d.NextAction == actionResearcher && rr.tx.Status.Status == task.Open && !rr.driven && (rr.critic || rr.researchers)
}

// conclude decides the round, or passes its evidence to the task's home, which decides.
func (rr *roundRunner) conclude(ctx context.Context) (api.RoundResult, error) {
	ev := &rr.evidence
	reviewed := !rr.isRed() && ev.Critic == nil
	if reviewed && slices.ContainsFunc(ev.Reports, pluginset.Report.ReadsDraft) {
		ev.Draft = rr.compareDraft(ctx)
	}
	if !rr.carry {
		return rr.decide(ctx)
	}
	ev.Spawns = rr.recorder.Spawns
	if reviewed {
		var err error
		if ev.Tree, err = rr.reviewedTree(ctx); err != nil {
			var ok bool
			if ev.TreeFailure, ok = errors.AsType[*errs.Error](err); !ok {
				return api.RoundResult{}, err
			}
		}
	}
	rr.carried = ev
	return api.RoundResult{}, nil
}

// decide evaluates the policy and records the decision. If other processes record events
// meanwhile, a review still counts as long as the round and the draft are the same.
func (rr *roundRunner) decide(ctx context.Context) (api.RoundResult, error) {
	ev := rr.evidence
	for {
		if err := rr.tx.Begin(ctx); err != nil {
			return api.RoundResult{}, err
		}
		run := rr.tx.Status.LatestRun(task.RoleCritic, 0)
		if max(rr.tx.Status.Round, 1) != rr.round.Number || ev.Run != "" && (run == nil || run.Intent.Run != ev.Run) {
			return api.RoundResult{}, tasktx.ErrLostRace(rr.round.Number, rr.tx.Status.State)
		}
		// The home of a fleet knows only the verification's tree.
		if tree := cmp.Or(rr.judged, ev.Verification.Tree); ev.Run != "" && tree != "" && run.Tree != tree {
			return api.RoundResult{}, rr.errTreeChanged("between the verification and the review")
		}
		if len(ev.Reports) > 0 && ev.Critic == nil {
			if err := rr.enter(task.Review); err != nil {
				return api.RoundResult{}, rr.tx.WithTaskID(err)
			}
		}
		d, err := decide(ctx, rr.tx, decisionInput{
			Evidence: ev, policy: rr.policy, round: rr.round, final: true, config: rr.config, tree: rr.tree, then: rr.prepareNext,
		})
		switch {
		case errs.CodeOf(err) == errs.LedgerConflict:
			continue
		case err == nil && d.Budget != "":
			// The decision is recorded, but the budget does not cover its researchers.
			d.NextAction, d.Reason, d.Stuck = api.ActionStuck, task.ReasonBudget, true
		}
		return api.RoundResult{Decision: d}, err
	}
}

// prepareNext adds the intents of researchers to a decision before it is recorded.
func (rr *roundRunner) prepareNext(d *api.Decision) error {
	d.Spawns, d.EmptyDraft, d.WithoutCriteria = slices.Clone(rr.recorder.Spawns), rr.evidence.EmptyDraft, rr.evidence.WithoutCriteria
	if !rr.needsResearch(*d) {
		return nil
	}
	err := rr.reserveResearchers(rr.config.Researchers)
	if errs.CodeOf(err) == errs.BudgetExhausted {
		d.Budget = err.Error()
		return rr.stop(err)
	}
	return err
}

// stop marks the task as stuck because of the budget that why names.
func (rr *roundRunner) stop(why error) error {
	reported := event.Full{By: task.BySwitchyard}
	if f, ok := errors.AsType[*errs.Error](why); ok {
		reported.Budget, _ = f.Details["unit"].(string)
	}
	return rr.tx.Apply(task.StopTask{Reason: task.ReasonBudget, By: task.BySwitchyard, FindingCount: -1}, reported)
}

// stopOnBudget ends the round because the budget does not cover the next step. Run asks the user
// whether to raise it.
func (rr *roundRunner) stopOnBudget(ctx context.Context, why error) (api.RoundResult, error) {
	if rr.driven {
		return api.RoundResult{}, why
	}
	at, err := rr.recorder.Write(ctx, func() error {
		if max(rr.tx.Status.Round, 1) != rr.round.Number {
			return tasktx.ErrLostRace(rr.round.Number, rr.tx.Status.State)
		}
		return rr.stop(why)
	})
	if err != nil {
		return api.RoundResult{}, err
	}
	d := rr.undecided(api.ActionStuck, task.ReasonBudget)
	d.Stuck, d.Budget, d.Event = true, why.Error(), at
	return api.RoundResult{Decision: d}, nil
}

// undecided returns the result of a round that ended before its policy was evaluated, in
// the form of a decision.
func (rr *roundRunner) undecided(action, reason string) api.Decision {
	d := api.Decision{
		TaskID: rr.tx.ID, Round: rr.round.Number, NextRound: rr.round.Number, MaxRounds: rr.round.MaxRounds,
		NextAction: action, Reason: reason, Findings: []finding.Finding{},
		Routing: api.Routing{NextDestination: action, Buckets: map[string][]string{}},
		Spawns:  rr.recorder.Spawns, EmptyDraft: rr.evidence.EmptyDraft, Driven: rr.tx.Status.Branch != nil,
	}
	if !rr.carry { // Otherwise only the home knows the policy.
		d.Policy = rr.policy.Identity()
	}
	return d
}

// verifyDraft verifies the draft. A green verification that the engine ran on this working
// tree is reused if its command ran as often as the project asks for.
//
// If the tree changes meanwhile, a green result is not about the tree as it is then, so the
// draft is verified once more. What changes each time is taken for the command's own files.
func (rr *roundRunner) verifyDraft(ctx context.Context) (api.Verification, error) {
	if !verification.Runs(rr.req.Verify, rr.config) {
		v, err := verification.Of(ctx, rr.tx, rr.req.Verify, rr.config, true)
		rr.judged = v.Tree // An attestation may name its tree.
		return v, err
	}
	now, err := rr.snapshot(ctx)
	if err != nil {
		return api.Verification{}, err
	}
	wanted := verification.Command(rr.req.Verify.Command, rr.config)
	if v := rr.tx.Status.Verified; v != nil && !v.Claimed && v.Command == wanted.Command && v.Runs >= wanted.Runs && v.Tree == now.Digest() {
		rr.judged = v.Tree
		return api.Verification{Outcome: policies.Green, Verification: *v}, nil
	}
	// A review of this tree stays valid, whatever the verification's result.
	review := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	begun, err := rr.recorder.Write(ctx, func() error {
		return rr.tx.Apply(task.BeginVerification{Same: review != nil && review.Tree == now.Digest()}, event.Full{})
	})
	if err != nil {
		return api.Verification{}, err
	}
	since := rr.tx.Head.N
	if begun != nil {
		since = begun.N
	}
	var v api.Verification
	var first []string
	for again := false; ; again = true {
		before := now
		rr.shot = nil
		if v, err = verification.Of(ctx, rr.tx, rr.req.Verify, rr.config, true); err != nil || v.Outcome != policies.Green {
			return v, err
		}
		if now, err = rr.snapshot(ctx); err != nil {
			return api.Verification{}, err
		}
		var changed, others []string
		for _, c := range worktree.Compare(before, now) {
			if changed = append(changed, c.Path); !slices.Contains(first, c.Path) {
				others = append(others, c.Path)
			}
		}
		if again && len(others) > 0 {
			return api.Verification{}, rr.errTreeChanged("during each verification").
				WithHint("leave the files alone, or let git ignore what the verification writes: " + textutil.List(others, MaxNamedChanges))
		}
		if again || len(changed) == 0 {
			break
		}
		first = changed
	}
	v.Tree, rr.judged = now.Digest(), now.Digest()
	_, err = rr.recorder.Write(ctx, func() error {
		newer, err := hasNewerDraft(ctx, rr.tx, since)
		if err == nil && (newer || max(rr.tx.Status.Round, 1) != rr.round.Number) {
			err = tasktx.ErrLostRace(rr.round.Number, rr.tx.Status.State)
		}
		if err != nil {
			return err
		}
		return rr.tx.Apply(task.RecordVerification{Verification: v.Verification, InRound: true}, event.Full{Verification: &v})
	})
	return v, err
}

// snapshot returns the working tree as it is now.
func (rr *roundRunner) snapshot(ctx context.Context) (_ *worktree.Snapshot, err error) {
	if rr.shot == nil {
		rr.shot, err = verification.Snapshot(ctx, rr.tx, rr.config, &rr.tx.Project.Trees)
	}
	return rr.shot, err
}

// reviewedDraft is the draft that a review read. Its fields are zero if the host cannot know
// them: without git, for reports given by hand, or if git cannot store or compare drafts.
type reviewedDraft struct {
	Tree string // a git tree
	// Changes are the changes since the draft of the task's previous review, in the files of
	// the findings.
	Changes linediff.Changes `json:",omitzero"`
}

// compareDraft stores the draft and compares it with the draft of the previous review.
func (rr *roundRunner) compareDraft(ctx context.Context) (d reviewedDraft) {
	tree := rr.agents.WorkingTree()
	tree.Cache, tree.Now = &rr.tx.Project.Trees, rr.shot
	base, err := rr.tx.Base(ctx)
	if err != nil {
		return d
	}
	var changes linediff.Changes
	if d.Tree, changes, err = tree.Draft(ctx, base, rr.tx.Status.Draft); err != nil || changes == nil {
		return d
	}
	d.Changes = make(linediff.Changes)
	for _, f := range decision.Found(rr.evidence.Reports) {
		if f.File != nil && changes[*f.File] != nil {
			d.Changes[*f.File] = changes[*f.File]
		}
	}
	return d
}
