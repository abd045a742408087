package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// DrivenRound is the round of a task that Run drives: usage limits park the task. It is for one
// round, and not safe for concurrent use.
type DrivenRound struct {
	// Jobs is the number of tasks that the command runs at once, and Budget limits the agents.
	Jobs   int
	Budget project.Budget
	// Carry leaves the decision to the task's home: the round then ends with Evidence.
	// Contradictions says that the home's policy routes contradictions.
	Carry, Contradictions bool
	// Tree is the task's current tree, before and after the round, nil if it is not known.
	Tree *worktree.Snapshot
	// Evidence is the evidence for the home, nil if the round is not to be decided. Spawns are
	// the runs of the round, even if it failed.
	Evidence *Evidence
	Spawns   []api.SpawnSummary
}

// Evidence is the evidence that a round is decided on.
type Evidence struct {
	Verification api.Verification
	Reports      []pluginset.Report
	// Critic is the engine's own finding that the critic failed, or nil, and Run the run that
	// produced the review, or "".
	Critic *finding.Finding
	Run    string
	// Tree is the git tree of the draft. TreeFailure is the reason not to commit it, or nil.
	Tree        string
	TreeFailure *errs.Error
	Draft       reviewedDraft
	// These are shown with the decision: EmptyDraft is set if the critic got a draft equal to its
	// base, and WithoutCriteria if it got no description of the task.
	Spawns                      []api.SpawnSummary
	EmptyDraft, WithoutCriteria bool
}

// Run verifies, reviews and decides the draft of a task.
//
// # Errors
//
// The errors of Engine.Round, budget-exhausted, draft-empty and draft-protected.
func (d *DrivenRound) Run(ctx context.Context, p *core.Project, id string, req api.Request) (api.RoundResult, error) {
	e := New(p)
	in, err := e.open(ctx, id, req)
	defer in.close()
	if err != nil {
		return api.RoundResult{}, err
	}
	in.config.Budget = d.Budget
	return e.runHeadless(ctx, in, req, UsesCritic(in.config) || req.Adapter != "", d)
}

// Research runs the researchers that the last decision on the recorder's task asks for. It
// does not ask again those that answered an earlier command.
//
// # Errors
//
// budget-exhausted if the budget does not cover all of them, and errors of spawns.
func Research(ctx context.Context, rec *spawns.Recorder, adapter string) error {
	rr := &roundRunner{tx: rec.Tx, recorder: rec, config: rec.Config, req: api.Request{Adapter: adapter}, driven: true}
	return rec.WithAgents(ctx, func(runner spawns.Runner) error {
		rr.agents = runner
		last, err := rr.tx.LastDecision(ctx)
		if err != nil {
			return err
		}
		wanted := max(rr.researcherCount(max(rr.tx.Status.Round, 1)), rr.config.Researchers)
		if _, err := rec.Write(ctx, func() error { return rr.reserveResearchers(wanted) }); err != nil {
			return err
		}
		_, err = rr.research(ctx, last)
		return err
	})
}

// Decide decides the round of the recorder's task on the evidence of a review that another
// engine has carried out.
//
// # Errors
//
// The errors of Engine.Round that are not about agents, draft-empty and draft-protected.
func Decide(ctx context.Context, rec *spawns.Recorder, req api.Request, ev Evidence) error {
	rr := &roundRunner{
		tx: rec.Tx, recorder: rec, config: rec.Config, driven: true, req: req, evidence: ev,
		tree: func(context.Context) (string, error) {
			if ev.TreeFailure != nil {
				return "", ev.TreeFailure
			}
			return ev.Tree, nil
		},
	}
	rec.Spawns = ev.Spawns
	if err := rr.enter(); err != nil {
		return rr.tx.WithTaskID(err)
	}
	var err error
	if rr.policy, err = AdoptedPolicy(ctx, rr.tx.Project, rr.tx.Ledger, req.Policy, rr.config); err != nil {
		return err
	}
	_, err = rr.decide(ctx)
	return err
}

// AdoptedPolicy returns the policy that decides the project's rounds. file is the policy that
// the caller names, "" for the project's.
func AdoptedPolicy(ctx context.Context, p *core.Project, l *ledger.Ledger, file string, config project.Config) (policyset.Selection, error) {
	policy, err := p.Policies().Select(ctx, file, config)
	if err != nil {
		return policy, err
	}
	return p.Policies().CheckAdopted(ctx, l, policy)
}
