// Package gate decides whether files may be merged: the ledger, or a proof from it, must show
// that exactly these files were reviewed, over the whole difference, and that the adopted
// policy decided to commit them.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// Source has recorded evidence. An error that is not an *errs.Error says that the record was
// changed.
type Source interface {
	// Find returns the evidence of the named tasks, and of other tasks that reviewed a tree.
	Find(ctx context.Context, tasks []string, tree string) (evidence.Found, error)
	// AdoptedAt returns the digest of the policy that was adopted when an event was
	// recorded, or "".
	AdoptedAt(ctx context.Context, seq int64) (string, error)
}

// TaskTrailer is the key of the trailer with the task of a commit.
const TaskTrailer = "Switchyard-Task"

// outcomes are the outcomes that no decision can give, although a policy may have destinations of
// these names.
var outcomes = []string{api.GatePassed, api.GateNotReviewed, api.GateRefused}

// maxCommits bounds the commits of a range.
const maxCommits = 1000

// Gate checks files of a repository.
type Gate struct {
	Repo   *gitrepo.Repo
	Source Source
}

// change is the difference between two trees, which has to be reviewed.
type change struct {
	commit, tree string   // commit is "" for the files of a checkout
	from         string   // a commit or a tree
	merged       []string // the other parents of a merge
	tasks        []string
}

// Check says whether the commit, range or checkout that req names was reviewed and approved.
//
// # Errors
//
// revision-unknown, commit-shallow if the repository does not have the commit to compare
// with, and errors of the repository and of the source.
func (g Gate) Check(ctx context.Context, req api.GateRequest) (api.GateResult, error) {
	var c change
	var err error
	switch {
	case req.Tree:
		c, err = g.ofCheckout(ctx)
	case req.Commit != "":
		c, err = g.ofCommit(ctx, req.Commit)
	default:
		return g.checkRange(ctx, req.From, req.To)
	}
	if err != nil {
		return api.GateResult{}, err
	}
	verdict, err := g.check(ctx, c)
	return api.GateResult{GateVerdict: verdict}, err
}

// ofCheckout returns the change of the files of the checkout since HEAD.
func (g Gate) ofCheckout(ctx context.Context) (change, error) {
	head, _, err := g.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return change{}, err
	}
	tree, err := g.Repo.CheckoutTree(ctx)
	return change{tree: tree, from: head}, err
}

// ofCommit returns the change that a commit makes to its first parent.
func (g Gate) ofCommit(ctx context.Context, rev string) (change, error) {
	commit, err := g.Repo.ReadCommit(ctx, rev)
	if err != nil {
		return change{}, err
	}
	c := change{commit: commit.Hash, tree: commit.Tree, tasks: tasksOf(commit)}
	switch {
	case commit.Shallow:
		return change{}, errs.New(errs.CommitShallow, "the parent of commit %.12s is not in this clone, so what the commit changes is not known", commit.Hash).
			With("commit", commit.Hash)
	case len(commit.Parents) > 0:
		c.from, c.merged = commit.Parents[0], commit.Parents[1:]
		return c, nil
	}
	c.from, err = g.Repo.EmptyTree(ctx)
	return c, err
}

func tasksOf(c gitrepo.Commit) []string {
	var tasks []string
	for _, t := range c.Trailers {
		if t.Key == TaskTrailer && task.CheckID(t.Value) == nil && !slices.Contains(tasks, t.Value) {
			tasks = append(tasks, t.Value)
		}
	}
	return tasks
}

// checkRange passes if one review covers the whole range, or if each of its commits passes.
func (g Gate) checkRange(ctx context.Context, from, to string) (api.GateResult, error) {
	start, _, err := g.Repo.Resolve(ctx, from)
	if err != nil {
		return api.GateResult{}, err
	}
	last, err := g.Repo.ReadCommit(ctx, to)
	if err != nil {
		return api.GateResult{}, err
	}
	bases, err := g.mergeBases(ctx, start, last.Hash)
	if err != nil {
		return api.GateResult{}, err
	}
	if bases[0] == last.Hash {
		return api.GateResult{GateVerdict: api.GateVerdict{
			Outcome: api.GateNotReviewed, Commit: last.Hash, Tree: last.Tree, From: last.Hash,
			Reason: "the range has no commits", Missing: []string{fmt.Sprintf("a commit that %.50s does not have", textutil.Line(from))},
		}}, nil
	}
	// If each was merged into the other, the difference with one base does not show what the
	// range undoes of the rest.
	var whole api.GateResult
	for _, base := range bases {
		whole.GateVerdict, err = g.check(ctx, change{commit: last.Hash, tree: last.Tree, from: base, tasks: tasksOf(last)})
		if err != nil || whole.Outcome != api.GatePassed {
			break
		}
	}
	if err != nil || whole.Outcome == api.GatePassed {
		return whole, err
	}
	commits, err := g.Repo.Commits(ctx, start, last.Hash, maxCommits+1)
	if err != nil {
		return api.GateResult{}, err
	}
	if len(commits) > maxCommits {
		whole.Missing = append(whole.Missing, fmt.Sprintf("a review of the whole: the range has more than %d commits to check one by one", maxCommits))
		return whole, nil
	}
	if len(commits) < 2 {
		return whole, nil
	}
	passed := 0
	for _, hash := range commits {
		c, err := g.ofCommit(ctx, hash)
		if err != nil {
			return api.GateResult{}, err
		}
		result, err := g.check(ctx, c)
		if err != nil {
			return api.GateResult{}, err
		}
		if whole.Commits = append(whole.Commits, result); result.Outcome == api.GatePassed {
			passed++
		}
	}
	if passed == len(commits) {
		whole.Outcome, whole.Reason, whole.Missing, whole.Review = api.GatePassed, fmt.Sprintf("each of its %d commits was reviewed and approved", passed), []string{}, nil
		return whole, nil
	}
	whole.Missing = append(whole.Missing, fmt.Sprintf("approved reviews of %s of the range", textutil.Count(len(commits)-passed, "commit")))
	return whole, nil
}

func (g Gate) check(ctx context.Context, c change) (api.GateVerdict, error) {
	result := api.GateVerdict{Commit: c.commit, Tree: c.tree, From: c.from, Missing: []string{}}
	found, err := g.Source.Find(ctx, c.tasks, c.tree)
	if err != nil {
		return refuseChanged(ctx, result, err)
	}
	best := fail(result, api.GateNotReviewed, "no review of exactly these files is recorded", "a review of these files")
	for _, m := range found.Merges {
		brought, err := g.checkMerge(ctx, c, m)
		switch {
		case err != nil:
			return api.GateVerdict{}, err
		case brought.Outcome == api.GatePassed:
			result.Outcome, result.Merge = api.GatePassed, m.Task
			verified := "which was verified"
			if !m.Verified {
				verified = "which was not verified"
			}
			result.Reason = fmt.Sprintf("it is the merge of task %s into %s, %s; the task's commit was reviewed", m.Task, m.Into, verified)
			return result, nil
		case brought.Outcome != "":
			best.Outcome, best.Missing, best.Review = brought.Outcome, brought.Missing, brought.Review
			best.Reason = fmt.Sprintf("it is the merge of task %s into %s, but of what it brings %s", m.Task, m.Into, brought.Reason)
		}
	}
	reviews := slices.DeleteFunc(slices.Clone(found.Reviews), func(r evidence.Review) bool { return !slices.Contains(r.Trees, c.tree) })
	slices.SortFunc(reviews, func(a, b evidence.Review) int { return cmp.Compare(b.Seq, a.Seq) })
	for _, r := range reviews {
		judged, err := g.judge(ctx, result, c, r)
		// If it saw only a part of the change, an earlier review may have seen the whole.
		if err != nil || judged.Outcome != api.GateNotReviewed || !r.Reviewed {
			return judged, err
		}
		if best.Review == nil {
			best = judged
		}
	}
	return best, nil
}

// checkMerge checks the commits that the merge of a task brings to the commit before it. The
// verdict is the zero one if c is another change: after a fast-forward, it is the task's
// commit, which needs its own review.
func (g Gate) checkMerge(ctx context.Context, c change, m evidence.Merge) (api.GateVerdict, error) {
	if m.Commit != c.commit || c.commit == "" {
		return api.GateVerdict{}, nil
	}
	merge, err := g.Repo.ReadCommit(ctx, c.commit)
	if err != nil || !slices.Equal(merge.Parents, []string{c.from, m.Tip}) {
		return api.GateVerdict{}, err
	}
	brought, err := g.checkRange(ctx, c.from, m.Tip)
	return brought.GateVerdict, err
}

// mergeBases returns the commits at which two histories part, at least one.
func (g Gate) mergeBases(ctx context.Context, from, to string) ([]string, error) {
	bases, err := g.Repo.MergeBases(ctx, from, to)
	if err == nil && len(bases) == 0 {
		err = errs.New(errs.CommitShallow, "the histories of %.80q and %.80q do not meet in this clone, so what changed between them is not known", from, to).
			With("commit", to)
	}
	return bases, err
}

// judge returns the result that follows from a review of a tree.
func (g Gate) judge(ctx context.Context, result api.GateVerdict, c change, r evidence.Review) (api.GateVerdict, error) {
	result.Review = &api.GateReview{
		Task: r.Task, Round: r.Round, At: r.At, Event: r.Event, Base: r.Base, Decision: r.Decision, Policy: r.Policy, Verify: r.Verify,
	}
	about := fmt.Sprintf("round %d of task %s", r.Round, r.Task)
	adopted, err := g.Source.AdoptedAt(ctx, r.Seq)
	if err != nil {
		return refuseChanged(ctx, result, err)
	}
	switch {
	case slices.Contains(outcomes, r.Decision.NextAction) && r.Reviewed:
		return fail(result, api.GateRefused, fmt.Sprintf("%s decided %q, which is an outcome of the gate and no action", about, r.Decision.NextAction),
			"a decision to commit these files"), nil
	case r.Decision.NextAction != policies.Commit && r.Reviewed:
		return fail(result, r.Decision.NextAction, fmt.Sprintf("%s reviewed these files and decided %s (%s)", about, r.Decision.NextAction, r.Decision.Reason),
			"a decision to commit these files"), nil
	case !r.Reviewed:
		return fail(result, api.GateNotReviewed, about+" decided on a red verification alone; no critic saw these files", "a review of these files"), nil
	case r.Force != nil:
		return fail(result, api.GateRefused, fmt.Sprintf("%s was forced by %s: %s", about, r.Force.By, r.Force.Reason), "a decision that was not forced"), nil
	case adopted == "" || r.Policy.Digest != adopted:
		return fail(result, api.GateRefused, fmt.Sprintf("%s was decided by policy %s (%.12s), which the project had not adopted", about, r.Policy, digest.Bare(r.Policy.Digest)),
			"a decision of the adopted policy"), nil
	}
	gap, err := g.findUnseen(ctx, r, c)
	if gap == "" && err == nil {
		gap, err = g.findUndone(ctx, c)
	}
	switch {
	case err != nil:
		return api.GateVerdict{}, err
	case gap != "":
		return fail(result, api.GateNotReviewed, fmt.Sprintf("%s reviewed these files, but not the whole difference: %s", about, gap), "a review of the whole difference"), nil
	}
	result.Outcome = api.GatePassed
	result.Reason = fmt.Sprintf("%s reviewed exactly these files and decided commit (%s)", about, r.Decision.Reason)
	return result, nil
}

// findUnseen says what a review of a tree did not see of the change, "" if it saw the whole. It did
// if it compared the tree with the files that the change starts from, or with an earlier commit
// that has the same version of every file that the change touches.
func (g Gate) findUnseen(ctx context.Context, r evidence.Review, c change) (gap string, err error) {
	if r.Base == c.from {
		return "", nil
	}
	base, err := g.Repo.Tree(ctx, r.Base)
	if err != nil {
		return "", err
	}
	from, err := g.Repo.Tree(ctx, c.from)
	switch {
	case err != nil:
		return "", err
	case base == "":
		return "the commit that it was compared with is not known here", nil
	case base == from:
		return "", nil
	case base == r.Base: // There was no commit yet.
		return "it was compared with no commit", nil
	case from == c.from:
		return fmt.Sprintf("it was compared with %.12s, and this commit has no parent", r.Base), nil
	}
	if earlier, err := g.Repo.IsAncestor(ctx, r.Base, c.from); err != nil || !earlier {
		return fmt.Sprintf("it was compared with %.12s, which is not before %.12s", r.Base, c.from), err
	}
	since, err := g.changed(ctx, base, from)
	if err != nil {
		return "", err
	}
	changed, err := g.Repo.Changed(ctx, from, c.tree)
	unseen := slices.DeleteFunc(changed, func(name string) bool { return !since[name] })
	if err != nil || len(unseen) == 0 {
		return "", err
	}
	return fmt.Sprintf("it was compared with %.12s, and %.12s has another version of %s", r.Base, c.from, textutil.Line(unseen[0])+textutil.AndMore(len(unseen)-1)), nil
}

// findUndone says what a merge commit does not take over of what it merges, "" if it takes over all,
// except in files that it changes. If another file is not as git would merge it, the commit undoes
// what is in its other parent, and the difference with its first parent does not show that.
func (g Gate) findUndone(ctx context.Context, c change) (gap string, err error) {
	if len(c.merged) == 0 {
		return "", nil
	}
	seen, err := g.changed(ctx, c.from, c.tree)
	if err != nil {
		return "", err
	}
	for _, parent := range c.merged {
		// Without the commit at which they part, git would merge them as unrelated ones.
		if g.Repo.IsShallow() {
			if _, err := g.mergeBases(ctx, c.from, parent); err != nil {
				return "", err
			}
		}
		merge, err := g.Repo.AutoMerge(ctx, c.from, parent)
		if err != nil {
			return "", err
		}
		undone, err := g.Repo.Changed(ctx, merge, c.tree)
		if err != nil {
			return "", err
		}
		undone = slices.DeleteFunc(undone, func(name string) bool { return seen[name] })
		if len(undone) > 0 {
			return fmt.Sprintf("the commit merges %.12s, but without its changes of %s", parent, textutil.Line(undone[0])+textutil.AndMore(len(undone)-1)), nil
		}
	}
	return "", nil
}

// changed returns the set of the files in which two trees differ.
func (g Gate) changed(ctx context.Context, from, to string) (map[string]bool, error) {
	names, err := g.Repo.Changed(ctx, from, to)
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set, err
}

// fail returns a result that does not pass, with what it lacks.
func fail(result api.GateVerdict, outcome, reason, missing string) api.GateVerdict {
	result.Outcome, result.Reason, result.Missing = outcome, reason, []string{missing}
	return result
}

// refuseChanged returns the result of an error of the source.
func refuseChanged(ctx context.Context, result api.GateVerdict, err error) (api.GateVerdict, error) {
	if !wasChanged(ctx, err) {
		return api.GateVerdict{}, err
	}
	return fail(result, api.GateRefused, fmt.Sprintf("the record was changed: %v", err), "evidence from a ledger that switchyard ledger verify finds intact"), nil
}

// wasChanged reports whether an error of a source says that the record was changed.
func wasChanged(ctx context.Context, err error) bool {
	_, other := errors.AsType[*errs.Error](err)
	return !other && ctx.Err() == nil
}
