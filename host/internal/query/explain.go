package query

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Explain returns the latest decision of a round, or of the task if round is 0, with
// everything that led to it. It checks the task's chain from there to its head, up to 256
// events; Verify checks the rest.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (q *Reader) Explain(ctx context.Context, id string, round int) (api.Explanation, error) {
	return core.WithTask(ctx, q.project, id, func(r *record.Task) (api.Explanation, error) { return q.explain(ctx, r, round, "") })
}

// explain is Explain, or explains the decision with the hash of that event unless it is "".
func (q *Reader) explain(ctx context.Context, r *record.Task, round int, hash string) (api.Explanation, error) {
	x, err := r.Explain(ctx, round, hash)
	if err != nil {
		return x, err
	}
	if x.Transcripts, err = q.transcripts(ctx, r); err == nil && x.Decision != nil {
		x.Why, err = q.explainRecorded(ctx, r.Ledger, *x.Decision)
	}
	return x, err
}

func (q *Reader) explainRecorded(ctx context.Context, l *ledger.Ledger, d api.Decision) (*explain.Explanation, error) {
	policy, err := q.project.Policies().ByDigest(ctx, l, d.Policy.Digest)
	if policyset.IsGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := explain.Decision(ctx, policy, d.Input, d.BarInput)
	if err != nil {
		return nil, err
	}
	if x.Decision.NextAction != d.NextAction || x.Decision.Reason != d.Reason {
		return nil, event.Tampered(d.TaskID, "its policy decides the recorded input for %s (%s)", x.Decision.NextAction, x.Decision.Reason)
	}
	if x.Bar != nil && x.Bar.Bar != d.PolicyBar {
		return nil, event.Tampered(d.TaskID, "its policy gives the recorded input the bar %s", x.Bar.Bar)
	}
	return x, nil
}

// ExplainCommit is Explain for the decision that the trailers of a commit name. It compares
// the commit with that decision, since trailers can be forged: the result's Commit says
// whether they agree. Of several decisions, as after a squash, it takes the last.
//
// # Errors
//
// commit-without-decision, decision-unknown, revision-unknown, and errors of the repository
// and of Explain.
func (q *Reader) ExplainCommit(ctx context.Context, rev string) (api.Explanation, error) {
	repo, err := q.project.Repository(ctx)
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
		case gate.TaskTrailer:
			id = t.Value
		case gitrepo.DecisionTrailer:
			hash = t.Value
		}
	}
	if task.CheckID(id) != nil || hash == "" {
		return api.Explanation{}, errs.New(errs.CommitWithoutDecision, "commit %.12s does not name a decision of a task", commit.Hash).With("commit", commit.Hash)
	}
	r, err := q.project.ReadTask(ctx, id)
	if errs.CodeOf(err) == errs.TaskNotFound {
		err = record.DecisionUnknown(id, hash)
	}
	if err != nil {
		return api.Explanation{}, err
	}
	defer r.Close()
	x, err := q.explain(ctx, r, 0, hash)
	if err != nil {
		return api.Explanation{}, err
	}
	x.Commit, err = r.CommitEvidence(ctx, x, commit)
	return x, err
}
