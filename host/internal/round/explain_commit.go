package round

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
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
	x, err := e.explain(ctx, id, 0, hash)
	if errs.CodeOf(err) == errs.TaskNotFound {
		err = errDecisionUnknown(id, hash)
	}
	if err != nil {
		return api.Explanation{}, err
	}
	x.Commit, err = e.commitEvidence(ctx, x, commit)
	return x, err
}

// taskTrailer is the key of the trailer with the task of a commit.
const taskTrailer = gate.TaskTrailer

func errDecisionUnknown(id, hash string) error {
	return errs.New(errs.DecisionUnknown, "the ledger has no decision %s of task %s", textutil.Clip(hash, 64), id).With("task", id)
}

// commitEvidence compares a commit with the explained decision, and with the commits that
// were recorded for it.
func (e *Engine) commitEvidence(ctx context.Context, x api.Explanation, commit gitrepo.Commit) (*api.CommitEvidence, error) {
	found := &api.CommitEvidence{SHA: commit.Hash, Tree: commit.Tree}
	if x.Task.Branch != nil {
		found.Branch = x.Task.Branch.Name
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	id, decision := x.Task.TaskID, x.Decision
	if found.Deferred, err = nameDeferred(ctx, l, id, decision.Event.N); err != nil {
		return nil, err
	}
	into := ""
	for ledgerEvent, err := range l.Events(ctx, id, decision.Event.N) {
		if err != nil {
			return nil, err
		}
		body, err := event.Decode(ledgerEvent)
		if err != nil {
			return nil, errTampered(id, "event %d cannot be read: %w", ledgerEvent.N, err)
		}
		decided, later := body.Event.(*task.RoundDecided)
		if later && ledgerEvent.N > decision.Event.N {
			break
		}
		switch ev := body.Event.(type) {
		case *task.RoundDecided:
			found.ReviewedTree = decided.Tree
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
		found.Problem = fmt.Sprintf("its decision, of round %d of task %s, is %s and not commit", decision.Round, id, decision.NextAction)
	case found.ReviewedTree == "":
		found.Problem = fmt.Sprintf("round %d of task %s was decided without a tree to compare it with", decision.Round, id)
	case commit.Tree == found.ReviewedTree:
		found.Matches, found.Merge = true, nil
	case found.Merge != nil:
		found.Matches = true
	default:
		found.Problem = fmt.Sprintf("its tree is %.12s, and round %d of task %s decided on tree %.12s", commit.Tree, decision.Round, id, found.ReviewedTree)
	}
	return found, nil
}
