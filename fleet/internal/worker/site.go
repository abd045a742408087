package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// site is the directory of an order's task.
type site struct {
	*Worker
	order orderstore.Order
	task  string
	lock  *sync.Mutex
	cache *gitrepo.Repo
	dir   string
	// root is a checkout of the task's base, with the project's settings.
	root   string
	branch task.Branch
	tree   gitrepo.Worktree
}

func (w *Worker) open(ctx context.Context, in flow.Order, o orderstore.Order) (*site, error) {
	for _, id := range []string{in.Project, in.Task} { // They name directories and refs.
		if err := task.CheckID(id); err != nil {
			return nil, err
		}
	}
	if o.Task != in.Task || o.Branch.Name != gitrepo.TaskBranch(in.Task) {
		return nil, errs.New(errs.OrderStale, "the order is not for task %s", in.Task).With("task", in.Task)
	}
	w.removeOld(ctx)
	s := w.site(filepath.Join(w.Dir, "tasks", in.Project, filepath.Base(o.Branch.Name)))
	s.order, s.task, s.branch, s.tree.Branch = o, in.Task, o.Branch, o.Branch.Name
	s.lock.Lock()
	_ = os.Chtimes(s.dir, time.Time{}, time.Now()) // It need not exist.
	if err := s.openCache(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// site returns the site of a task's directory, without its order and not opened.
func (w *Worker) site(dir string) *site {
	lock, _ := w.locks.LoadOrStore(dir, new(sync.Mutex))
	return &site{
		Worker: w, lock: lock.(*sync.Mutex), dir: dir, root: filepath.Join(dir, "root"), tree: gitrepo.Worktree{Path: filepath.Join(dir, "tree")},
	}
}

func (s *site) openCache(ctx context.Context) (err error) {
	s.cache, err = gitrepo.OpenCache(ctx, filepath.Join(s.Dir, "repositories", filepath.Base(filepath.Dir(s.dir))+".git"), s.order.Draft, s.git())
	return err
}

// keepTime is how long a task's directory is kept after the worker's last order of the task
// (docs/fleet.md). Its next order creates it again.
const keepTime = 7 * 24 * time.Hour

// removeOld removes the directories of tasks that have had no order for keepTime.
func (w *Worker) removeOld(ctx context.Context) {
	tasks := filepath.Join(w.Dir, "tasks")
	names, _ := fs.Glob(os.DirFS(tasks), "*/*") // It only fails for a wrong pattern.
	for _, name := range names {
		s := w.site(filepath.Join(tasks, filepath.FromSlash(name)))
		info, err := os.Stat(s.dir)
		if err != nil || time.Since(info.ModTime()) < keepTime || !s.lock.TryLock() {
			continue
		}
		if err = s.openCache(ctx); err == nil {
			err = s.remove(ctx)
		}
		s.close()
		if err != nil {
			w.Warn(err)
		}
	}
}

func (s *site) close() { s.lock.Unlock() }

func (w *Worker) git() gitrepo.Options {
	return gitrepo.Options{Supervisor: w.Supervisor, Environ: w.Environ}
}

// fetch fetches the draft. If an earlier attempt has carried out the order, also for an earlier
// workflow, it returns the result of that attempt, else the zero Done.
func (s *site) fetch(ctx context.Context) (flow.Done, error) {
	ref := flow.DraftRef(s.branch.Name)
	at, err := s.cache.Fetch(ctx, s.order.Remote, ref)
	if err != nil {
		return flow.Done{}, err
	}
	if at == "" {
		return flow.Done{}, errs.New(errs.FleetDraftMissing, "the remote has no %s", ref).With("ref", ref)
	}
	done, err := s.doneAt(ctx, at)
	if err == nil && at == s.order.Draft {
		return s.unaccepted(ctx, done)
	}
	if err == nil && done.Result == "" {
		err = errs.New(errs.FleetDraftDiverged, "the draft of task %s is at %.12s, and not at %.12s where its home knows it", s.task, at, s.order.Draft).
			With("task", s.task).With("commit", at)
	}
	return done, err
}

// unaccepted returns a result that is at the order's own draft: a workflow ended before its home
// accepted it, since the next order of a task that has further events has another key. It
// returns the zero Done for a result without events, which can have been accepted, and for one
// that the store has lost.
func (s *site) unaccepted(ctx context.Context, done flow.Done) (flow.Done, error) {
	if done.Result == "" {
		return done, nil
	}
	r, err := orderstore.Get[host.OrderResult](ctx, s.Store, done.Result)
	if errs.CodeOf(err) == errs.FleetBlobMissing || err == nil && len(r.Events) == 0 {
		return flow.Done{}, nil
	}
	return done, err
}

// doneAt returns the result of the order that a commit on the ref of the draft names. It
// returns the zero Done if the commit is for another order.
func (s *site) doneAt(ctx context.Context, at string) (flow.Done, error) {
	commit, err := s.cache.ReadCommit(ctx, at)
	if err != nil || valueOf(commit.Trailers, keyTrailer) != s.order.Key {
		return flow.Done{}, err
	}
	return flow.Done{Result: valueOf(commit.Trailers, resultTrailer), Draft: at}, nil
}

func valueOf(trailers []gitrepo.Trailer, key string) string {
	for _, t := range trailers {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// restore restores the task's directory to the order's draft. It creates the directory again
// if that fails, since an agent may have damaged it.
func (s *site) restore(ctx context.Context) error {
	if s.checkOut(ctx) == nil {
		return nil
	}
	if err := s.remove(ctx); err != nil {
		return err
	}
	return s.checkOut(ctx)
}

func (s *site) checkOut(ctx context.Context) error {
	if err := s.cache.CheckOut(ctx, s.root, s.branch.Base, project.StateDir); err != nil {
		return err
	}
	return s.cache.Restore(ctx, s.tree, s.branch.Head(), s.order.Draft)
}

// remove removes the task's directory.
func (s *site) remove(ctx context.Context) error {
	for _, path := range []string{s.root, s.tree.Path} {
		if err := s.cache.Discard(ctx, path); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return errs.New(errs.FileUnwritable, "the directory of a task cannot be removed: %w", err)
	}
	return nil
}

// run restores the task's directory and carries out the order. It returns its result and, unless
// it was interrupted, the git tree of the next draft.
func (s *site) run(ctx context.Context, p *progress) (r host.OrderResult, tree string, err error) {
	e := host.New(host.Options{
		Project: host.Project{Root: s.root, Dir: s.root}, Worktree: s.tree.Path, Plugins: s.Plugins,
		Now: time.Now, By: task.BySwitchyard, Environ: s.Environ, Observe: p.observe, Warn: s.Warn,
	})
	if err = e.EndOrphans(ctx); err == nil {
		err = s.restore(ctx)
	}
	if err == nil {
		r, err = e.Carry(ctx, s.order.Order, p.lostRuns())
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil && !r.Interrupted {
		tree, err = s.writeTree(ctx, e, &r)
	}
	return r, tree, errors.Join(err, e.Close(ctx))
}

// writeTree stores the files of the worktree as a git tree. If they cannot be stored, the
// draft stays unchanged.
func (s *site) writeTree(ctx context.Context, e *host.Engine, r *host.OrderResult) (string, error) {
	repo, err := gitrepo.Open(ctx, s.root, s.git())
	if err != nil {
		return "", err
	}
	tree, err := repo.WriteTree(ctx, s.tree.Path)
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case err == nil, !ok:
		return tree, err
	case f.Code == errs.WorktreeMissing, f.Code == errs.RepositoryNested: // The agent did that, as the record of its run says.
		err = nil
	case f.Code == errs.DraftProtected, f.Code == errs.GitObjectInvalid, f.Code == errs.GitFailed && r.Step.Kind != task.StepCommit:
		err = s.dropDraft(ctx, e, r, f)
	default:
		return "", err
	}
	return s.order.Draft + "^{tree}", err
}

// dropDraft stops the task because git cannot store the draft that an agent has made, so that
// the draft before is not taken for it. The evidence of a review says that itself.
func (s *site) dropDraft(ctx context.Context, e *host.Engine, r *host.OrderResult, why *errs.Error) error {
	now, err := e.Task(ctx, s.task)
	if err != nil || r.Step.Kind == task.StepReview || r.Failure != nil || now.Status != task.Open {
		return err
	}
	if _, err := e.Stop(ctx, s.task, api.StopRequest{Reason: string(why.Code)}); err != nil {
		return err
	}
	if why.Code == errs.GitFailed { // As in Run, where it is the error of the next review.
		r.Failure = why
	}
	for ev, err := range e.Events(ctx) {
		if err != nil {
			return err
		}
		if ev.Task == s.task && ev.N > r.After+int64(len(r.Events)) {
			r.Events = append(r.Events, host.OrderEvent{Kind: ev.Kind, Body: ev.Body})
		}
	}
	return nil
}

// maxWait is the longest wait between two attempts to deliver a result.
const maxWait = time.Minute

// deliver stores the result and moves the draft. If an agent has run, it tries until that
// succeeds, fails for good, or ctx ends: another attempt at the order would run the agent again.
func (s *site) deliver(ctx context.Context, r host.OrderResult, tree string, p *progress) (done flow.Done, err error) {
	for range (retry.Backoff{First: time.Second, Max: maxWait}).Attempts(ctx) {
		// The usage of an agent is recorded even if the order was cancelled meanwhile.
		done, err = s.tryDeliver(context.WithoutCancel(ctx), r, tree)
		if err == nil || finalCodes[errs.CodeOf(err)] || !p.ranAgent() {
			break
		}
		s.Warn(err)
	}
	return done, err
}

func (s *site) tryDeliver(ctx context.Context, r host.OrderResult, tree string) (flow.Done, error) {
	sum, err := orderstore.Put(ctx, s.Store, r)
	if err != nil || r.Interrupted {
		return flow.Done{Result: sum}, err
	}
	return s.finish(ctx, r, tree, sum)
}

// finish moves the ref of the draft to a commit that names the result.
func (s *site) finish(ctx context.Context, r host.OrderResult, tree, sum string) (flow.Done, error) {
	parents := []string{s.order.Draft}
	if r.Commit != "" { // The next phase starts from it, and workers fetch only the draft.
		parents = append(parents, r.Commit)
	}
	commit, err := s.cache.CreateCommit(ctx, tree, parents, fmt.Sprintf("%s %s\n\nA draft of a fleet.", r.Step.Kind, s.task), []gitrepo.Trailer{
		{Key: "Switchyard-Task", Value: s.task}, {Key: keyTrailer, Value: s.order.Key}, {Key: resultTrailer, Value: sum},
	})
	if err != nil {
		return flow.Done{}, err
	}
	moves := []gitrepo.RefMove{{Ref: flow.DraftRef(s.branch.Name), From: s.order.Draft, To: commit}}
	if made := r.Commit; made != "" {
		from, err := s.cache.RemoteRef(ctx, s.order.Remote, "refs/heads/"+s.branch.Name)
		if err != nil {
			return flow.Done{}, err
		}
		if from != "" && from != s.branch.Tip { // The branch may be gone, as it often is after a merge.
			return flow.Done{}, errs.New(errs.FleetDraftDiverged, "the remote's branch %s is at %.12s, which this task did not push", s.branch.Name, from).With("branch", s.branch.Name)
		}
		moves = append(moves, gitrepo.RefMove{Ref: "refs/heads/" + s.branch.Name, From: from, To: made})
	}
	err = s.cache.PushRefs(ctx, s.order.Remote, moves...)
	if errs.CodeOf(err) == errs.PushRejected { // Another attempt may have been first, or this push has arrived.
		if done, fetchErr := s.fetch(ctx); fetchErr != nil || done.Result != "" {
			return done, fetchErr
		}
	}
	if err != nil {
		return flow.Done{}, err
	}
	if s.order.Step.Kind == task.StepCommit {
		if err := s.remove(ctx); err != nil {
			s.Warn(err)
		}
	}
	return flow.Done{Result: sum, Draft: commit}, nil
}

// Trailers of the commits on the ref of a draft.
const (
	keyTrailer    = "Switchyard-Order"
	resultTrailer = "Switchyard-Result"
)
