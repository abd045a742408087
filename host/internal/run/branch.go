package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// start records a new task with its text and the branch that it will have.
func (w *work) start(ctx context.Context) error {
	if w.req.Prompt == "" {
		return errs.New(errs.TaskNoText, "task %s does not exist yet, and nothing says what it is", w.id).With("task", w.id)
	}
	// The task is recorded only if later steps can succeed.
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	branch, err := w.newBranch(ctx, repo)
	switch {
	case err != nil:
	case !w.atHome:
		err = w.checkMachine(ctx, repo, branch)
	case w.checkBase != nil:
		err = w.checkBase(ctx, branch.Base)
	}
	if err != nil {
		if w.tx.Begin(ctx) == nil {
			// The branch and the worktree may be those of another run of the task.
			return cmp.Or(w.checkNew(), err)
		}
		return err
	}
	if w.req.Merge && branch.Onto == "" {
		return w.errNoBranchToMerge().WithHint("check out the branch that the task is for, or name it with --base")
	}
	dirty, err := repo.Dirty(ctx)
	if err != nil {
		return err
	}
	w.tx.Prompt, w.tx.BaseRev = w.req.Prompt, branch.Base
	result, err := w.tx.Update(ctx, func(*tasktx.Tx) (task.Command, event.Full, error) {
		return task.StartWork{MaxRounds: w.req.MaxRounds, Fallback: w.config.MaxRounds, HardCap: w.config.HardCap, MustVerify: w.req.Verify != "", Branch: branch}, event.Full{}, w.checkNew()
	})
	if err != nil {
		return err
	}
	w.began = true
	w.emit(api.RunEvent{Event: api.RunStarted, Round: result.Round, Branch: branch})
	if len(dirty) > 0 {
		w.notice("the task starts from commit %.12s, without the changes in your checkout: %s", branch.Base, textutil.List(dirty, round.MaxNamedChanges))
	}
	return nil
}

// checkNew fails if the task exists, because another command was the first to start it.
func (w *work) checkNew() error {
	if s := w.tx.Status.State; s.Status != task.NoTask {
		return tasktx.ErrLostRace(1, s)
	}
	return nil
}

// checkMachine fails if this machine could not carry out the task.
func (w *work) checkMachine(ctx context.Context, repo *gitrepo.Repo, branch *task.Branch) error {
	_, noPlan := handoff.ConfiguredPlan(ctx, w.project, w.config.Spawn.PlanOf(w.id))
	return cmp.Or(
		w.checkAgents(ctx), prompt.Check(w.project.Root), noPlan,
		agents.CheckConfinement(w.project, w.config, w.id, branch.Worktree),
		repo.CheckFree(ctx, worktreeOf(branch)), repo.CheckAuthor(ctx),
	)
}

// checkAgents fails if a definition of an agent or a module is broken, or if the executor or
// the critic cannot be run.
func (w *work) checkAgents(ctx context.Context) error {
	library := definition.Library{Root: w.project.Root}
	if _, err := library.Raised(); err != nil { // It reads them all.
		return err
	}
	_, may, err := agents.FindForRun(library, string(task.RoleExecutor), true)
	if err == nil {
		err = agents.CheckAvailable(ctx, w.project, w.config, string(task.RoleExecutor), w.req.Adapter, may)
	}
	if err != nil || !round.UsesCritic(w.config) {
		return err
	}
	return round.CheckCritic(ctx, w.project, w.config, w.req.Adapter)
}

// errNoBranchToMerge is the error of a merge of a task that does not start from a branch of the
// user.
func (w *work) errNoBranchToMerge() *errs.Error {
	return errs.New(errs.MergeNoBranch, "task %s does not start from a branch that it could be merged into", w.id).With("task", w.id)
}

func (w *work) notice(format string, args ...any) {
	w.emit(api.RunEvent{Event: api.RunNotice, Round: w.tx.Status.Round, Message: fmt.Sprintf(format, args...)})
}

func (w *work) newBranch(ctx context.Context, repo *gitrepo.Repo) (*task.Branch, error) {
	if err := w.project.CheckTop(repo); err != nil {
		return nil, err
	}
	base, onto, err := repo.Resolve(ctx, cmp.Or(w.req.Base, "HEAD"))
	if err != nil {
		return nil, err
	}
	dir, err := w.project.WorktreesFolder()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(onto, gitrepo.BranchPrefix) {
		onto = "" // The branch of another task, which no merge may move: its worktree is on it.
	}
	name := gitrepo.TaskBranch(w.id)
	return &task.Branch{Name: name, Worktree: filepath.Join(dir, strings.TrimPrefix(name, gitrepo.BranchPrefix)), Base: base, Onto: onto}, nil
}

func (w *work) createBranch(ctx context.Context) error {
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	isNew := !repo.HasWorktree(b.Worktree)
	if err := repo.AddWorktree(ctx, worktreeOf(b), b.Base); err != nil {
		return err
	}
	if isNew {
		w.project.Trees.CheckedOut(b.Worktree, b.Base)
	}
	if missing, err := repo.Submodules(ctx, b.Worktree); err != nil {
		return err
	} else if len(missing) > 0 {
		w.notice("submodules are not checked out in the worktree: %s", textutil.List(missing, round.MaxNamedChanges))
	}
	return w.tx.Record(ctx, task.CreateBranch{})
}

func worktreeOf(b *task.Branch) gitrepo.Worktree {
	return gitrepo.Worktree{Path: b.Worktree, Branch: b.Name}
}

// checkBranch fails unless the worktree exists, is on its branch, and the branch has not
// moved. In a manual round a person may have committed.
func (w *work) checkBranch(ctx context.Context) error {
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	tip, err := repo.Tip(ctx, worktreeOf(b))
	switch {
	case err != nil || tip == b.Head() || tip != "" && w.tx.Status.DraftAgent() == "":
		return err
	case tip == "":
		return errs.New(errs.BranchMoved, "branch %s is gone", b.Name).
			With("branch", b.Name).WithHint(fmt.Sprintf("bring it back with git branch %s %.12s, then run the task again", b.Name, b.Head()))
	}
	return errs.New(errs.BranchMoved, "branch %s is at %.12s, and not at %.12s where it was left", b.Name, tip, b.Head()).
		With("branch", b.Name).WithHint(fmt.Sprintf("take the commits back and keep what they change: run git reset --soft %.12s in %s, then run the task again", b.Head(), b.Worktree))
}

// restoreWorktree creates the worktree again if it is gone, and the branch, which a merge
// removes too. Changes since the last commit are lost.
func (w *work) restoreWorktree(ctx context.Context) error {
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	if repo.HasWorktree(b.Worktree) {
		return nil
	}
	if err := repo.AddWorktree(ctx, worktreeOf(b), b.Head()); err != nil {
		return err
	}
	w.notice("the worktree was gone, and was created again from %s: %s", b.Name, b.Worktree)
	return nil
}

func (w *work) commit(ctx context.Context) error {
	if err := w.restoreWorktree(ctx); err != nil {
		return err
	}
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b, last := w.tx.Status.Branch, w.tx.Status.Last
	parent := b.Head()
	if w.tx.Status.DraftAgent() == "" {
		if parent, err = w.parentByHand(ctx, repo); err != nil {
			return err
		}
	}
	decision, err := w.tx.LastDecision(ctx)
	if err != nil {
		return err
	}
	message, err := w.message(ctx)
	if err != nil {
		return err
	}
	hooks, err := repo.Hooks(ctx, b.Worktree)
	if err != nil {
		return err
	}
	switch {
	case len(hooks) > 0 && w.config.CommitHooks:
		record, held, err := w.holdHooks(ctx)
		if err != nil {
			return err
		}
		defer w.project.Release(held)
		if message, err = repo.RunHooks(ctx, b.Worktree, last.Tree, message, record); err != nil {
			return w.tx.WithTaskID(err)
		}
	case len(hooks) > 0:
		w.notice("the repository's hooks are not run: %s (run.hooks in %s)", strings.Join(hooks, ", "), project.ConfigFile)
	}
	deferred, err := w.tx.NameDeferred(ctx, decision.Event.N)
	if err != nil {
		return err
	}
	trailers := []gitrepo.Trailer{
		{Key: gate.TaskTrailer, Value: w.id}, {Key: "Switchyard-Round", Value: fmt.Sprint(last.Round)},
		{Key: gitrepo.DecisionTrailer, Value: decision.Event.Hash}, {Key: "Switchyard-Policy", Value: last.Policy},
	}
	for _, name := range deferred {
		trailers = append(trailers, gitrepo.Trailer{Key: "Switchyard-Deferred", Value: name})
	}
	sha, err := repo.Commit(ctx, worktreeOf(b), gitrepo.CommitRequest{Tree: last.Tree, Parent: parent, Message: message, Trailers: trailers})
	if err != nil {
		return w.tx.WithTaskID(err)
	}
	if err := w.tx.Record(ctx, task.RecordCommit{GitCommit: task.GitCommit{SHA: sha, Tree: last.Tree, Decision: decision.Event.Hash}}); err != nil {
		return err
	}
	w.subject, _, _ = strings.Cut(message, "\n")
	w.emit(api.RunEvent{Event: api.RunCommitted, Round: last.Round, Branch: w.tx.Status.Branch, Commit: sha, Subject: w.subject})
	return nil
}

// holdHooks ends what a killed command left, such as its hooks, and returns a function that
// records the process of hooks that will run. The caller must release the lease after them.
func (w *work) holdHooks(ctx context.Context) (record func(supervise.Identity) error, held *lease.Lease, err error) {
	if err := spawns.RecoverOrphans(ctx, w.project); err != nil {
		return nil, nil, err
	}
	return verification.Hold(ctx, w.tx, "hooks")
}

// parentByHand returns the commit that the branch is at in a manual round, in which a person
// may have committed. What a person has changed since the review would be undone by a commit
// of the reviewed tree, so it fails then.
func (w *work) parentByHand(ctx context.Context, repo *gitrepo.Repo) (string, error) {
	b, last := w.tx.Status.Branch, w.tx.Status.Last
	tip, err := repo.Tip(ctx, worktreeOf(b))
	if err != nil || tip == b.Head() || tip == "" {
		return tip, err
	}
	tree, err := repo.WriteTree(ctx, b.Worktree)
	if err == nil && tree != last.Tree {
		err = errs.New(errs.BranchMoved, "branch %s is at %.12s, and the files in its worktree are not those that were reviewed", b.Name, tip).
			With("branch", b.Name).WithHint(fmt.Sprintf("take back what was changed since the review, which git diff %.12s in %s shows, then run the task again", last.Tree, b.Worktree))
	}
	return tip, err
}

// message returns the commit's message: the executor's summary, else the summary of the last
// agent that has one, else the task's text.
func (w *work) message(ctx context.Context) (string, error) {
	var summary, other string
	for record, err := range w.tx.Spawns(ctx, 1) {
		if err != nil {
			return "", err
		}
		if other = cmp.Or(record.Summary, other); record.Agent == string(task.RoleExecutor) {
			summary = cmp.Or(record.Summary, summary)
		}
	}
	subject, body := prompt.CommitMessage(cmp.Or(summary, other), w.tx.TaskPrompt())
	if subject == "" {
		subject = "Complete task " + w.id
	}
	if body == "" {
		return subject, nil
	}
	return subject + "\n\n" + body, nil
}
