package round

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// ExplainCommit is Explain for the decision that the trailers of a commit name. It compares
// the commit with that decision, since anybody can write a trailer: the result's Commit
// says whether they agree. Of several decisions, as after a squash, it takes the last.
//
// # Errors
//
// commit-without-decision, decision-unknown, revision-unknown, those of the repository and
// those of Explain.
func (e *Engine) ExplainCommit(ctx context.Context, rev string) (api.Explanation, error) {
	repo, err := e.repository(ctx)
	if err != nil {
		return api.Explanation{}, err
	}
	commit, err := repo.ReadCommit(ctx, rev)
	if err != nil {
		return api.Explanation{}, err
	}
	var id, hash string
	for _, t := range commit.Trailers {
		switch t.Key {
		case taskTrailer:
			id = t.Value
		case gitrepo.DecisionTrailer:
			hash = t.Value
		}
	}
	if task.CheckID(id) != nil || hash == "" {
		return api.Explanation{}, errs.New(errs.CommitWithoutDecision, "commit %.12s names no decision of a task", commit.Hash).With("commit", commit.Hash)
	}
	r, err := e.readTask(ctx, id)
	defer r.close()
	if errs.CodeOf(err) == errs.TaskNotFound {
		err = errDecisionUnknown(id, hash)
	}
	if err != nil {
		return api.Explanation{}, err
	}
	x, err := e.explain(ctx, r, 0, hash)
	if err != nil {
		return api.Explanation{}, err
	}
	x.Commit, err = r.commitEvidence(ctx, x, commit)
	return x, err
}

// taskTrailer is the key of the trailer with the task of a commit.
const taskTrailer = gate.TaskTrailer

func errDecisionUnknown(id, hash string) error {
	return errs.New(errs.DecisionUnknown, "the ledger has no decision %s of task %s", textutil.Clip(hash, 64), id).With("task", id)
}

// commitEvidence compares a commit with the explained decision, and with the commits that
// were recorded for it.
func (r *taskRecord) commitEvidence(ctx context.Context, x api.Explanation, commit gitrepo.Commit) (*api.CommitEvidence, error) {
	found := &api.CommitEvidence{SHA: commit.Hash, Tree: commit.Tree}
	if x.Task.Branch != nil {
		found.Branch = x.Task.Branch.Name
	}
	decision := x.Decision
	var err error
	if found.Deferred, err = r.nameDeferred(ctx, decision.Event.N); err != nil {
		return nil, err
	}
	into := ""
	for e, err := range r.events(ctx, decision.Event.N, task.KindDecided, task.KindCommitCreated, task.KindMergeBegun, task.KindMergeEnded) {
		if err != nil {
			return nil, err
		}
		if e.Event.Kind() == task.KindDecided && e.stored.N > decision.Event.N {
			break
		}
		switch ev := e.Event.(type) {
		case *task.RoundDecided:
			found.ReviewedTree = ev.Tree
		case *task.CommitCreated:
			found.Recorded = ev.Commit.SHA
		case *task.MergeBegun:
			into = ev.Into
		case *task.MergeEnded:
			if ev.Commit == commit.Hash {
				found.Merge = &task.Merge{Into: into, Outcome: ev.Outcome, Commit: ev.Commit}
			}
		}
	}
	switch {
	case decision.NextAction != policies.Commit:
		found.Problem = fmt.Sprintf("its decision, of round %d of task %s, is %s and not commit", decision.Round, r.id, decision.NextAction)
	case found.ReviewedTree == "":
		found.Problem = fmt.Sprintf("round %d of task %s was decided without a tree to compare it with", decision.Round, r.id)
	case commit.Tree == found.ReviewedTree:
		found.Matches, found.Merge = true, nil
	case found.Merge != nil:
		found.Matches = true
	default:
		found.Problem = fmt.Sprintf("its tree is %.12s, and round %d of task %s decided on tree %.12s", commit.Tree, decision.Round, r.id, found.ReviewedTree)
	}
	return found, nil
}
