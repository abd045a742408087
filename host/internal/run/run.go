// Package run drives tasks to their commits: it carries out one step after the other, such as
// a round, or hands the steps to engines on other machines.
package run

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Engine drives tasks. It is safe for concurrent use.
type Engine struct {
	project *core.Project
	rounds  *round.Engine
}

// New returns an Engine that works on p, which the caller closes after it. Answers of users
// are recorded through rounds.
func New(p *core.Project, rounds *round.Engine) *Engine { return &Engine{p, rounds} }

// Run drives a task from its text to a commit, or continues it where it was (ADR-0022).
// task.Next says which step comes next; each step records its end, so a run that was killed
// repeats at most its last step, and first looks for the results of that step.
//
// It ends if the task is committed, waits for the user, is stuck or parked. Its result says
// which, even if there is an error.
//
// # Errors
//
// round-running if another run drives the task, task-no-text for a new task without a text,
// task-no-branch for a task that is worked on in the checkout, and errors of the repository
// and of Round.
func (e *Engine) Run(ctx context.Context, id string, req api.RunRequest) (api.RunResult, error) {
	d := &driver{Engine: e, id: id, req: req}
	for {
		err := tasktx.RecordFailure(ctx, e.project, id, d.run(ctx))
		r := d.result(context.WithoutCancel(ctx), err != nil)
		if err != nil || r.NextAction != api.ActionFailed {
			return r, err
		}
		// The run had ended, and then another command answered or resumed the task.
		d.triedMerge, d.pushed = false, false
	}
}

type driver struct {
	*Engine
	id  string
	req api.RunRequest
	// began is set once the first event was emitted.
	began bool
	// waited is how long the run has waited for usage limits.
	waited time.Duration
	// triedMerge is set once this run has begun a merge, and pushed once it has pushed the
	// branch.
	triedMerge, pushed bool
	// action and subject are of the result: how the loop ended, and the commit's subject.
	action, subject string
	// carried is the result of the order that the engine carries out, nil if it does not carry
	// out an order. Then contradictions says that the home's policy routes contradictions.
	carried        *OrderResult
	contradictions bool
	// atHome is set if other engines carry out the steps that need the worktree.
	atHome bool
	// checkBase is AdvanceRequest.CheckBase.
	checkBase func(ctx context.Context, base string) error
	// tree is the task's tree after the last step, nil if it is not known.
	tree *worktree.Snapshot
}

func (d *driver) emit(ev api.RunEvent) {
	if d.req.Observe == nil {
		return
	}
	ev.TaskID, ev.At = d.id, d.project.Now().UTC().Format(time.RFC3339)
	d.req.Observe(ev)
}

func (d *driver) run(ctx context.Context) error {
	if err := d.project.Inside(); err != nil {
		return err // An agent must not drive tasks.
	}
	if d.req.Push != "" { // Otherwise a wrong name is found after all agents have run.
		repo, err := d.project.Repository(ctx)
		if err == nil {
			_, err = repo.RemoteURL(ctx, d.req.Push)
		}
		if err != nil {
			return err
		}
	}
	if err := d.startNew(ctx); err != nil {
		return err
	}
	held, err := spawns.LockRun(ctx, d.project, d.id)
	if err != nil {
		return err
	}
	defer d.project.Release(held)
	for {
		over, err := d.step(ctx)
		switch errs.CodeOf(err) {
		case errs.TaskParked, errs.TaskWaiting, errs.TaskStuck:
			// A usage limit, a question or a person ended the step. The next step is about that.
			continue
		}
		if err != nil || over {
			return err
		}
	}
}

// startNew starts the task if it is new. It needs no lease, since only one of several runs can
// append the first event. So a run that cannot start the task creates no file.
func (d *driver) startNew(ctx context.Context) error {
	w, err := d.open(ctx)
	defer w.close()
	if err != nil || task.Next(w.tx.Status.State).Kind != task.StepStart {
		return err
	}
	if err := w.begin(task.StepStart); err != nil {
		return err
	}
	err = w.start(ctx)
	if errs.CodeOf(err) == errs.RoundShifted {
		return nil // Another command was first. LockRun fails if it is a run.
	}
	return err
}

// step carries out the task's next step, and reports whether the run is over.
func (d *driver) step(ctx context.Context) (over bool, err error) {
	w, err := d.open(ctx)
	defer w.close()
	if err != nil {
		return false, err
	}
	next := task.Next(w.tx.Status.State)
	if err := cmp.Or(w.begin(next.Kind), w.checkVerifies(next.Kind)); err != nil {
		return false, err
	}
	switch next.Kind {
	case task.StepBranch:
		return false, w.createBranch(ctx)
	case task.StepDraft:
		return false, w.runAgent(ctx, next.Role, true)
	case task.StepAssist:
		return false, w.assist(ctx, next.Role)
	case task.StepReview:
		return w.review(ctx)
	case task.StepAsk:
		return w.ask(ctx)
	case task.StepPark:
		return w.park(ctx)
	case task.StepCommit:
		return false, w.commit(ctx)
	case task.StepMerge:
		return false, w.merge(ctx)
	case task.StepStuck:
		if d.req.Merge && w.tx.Status.MergeFailed() && !d.triedMerge {
			return false, w.merge(ctx)
		}
		return true, nil
	default:
		return w.finish(ctx)
	}
}

// begin checks whether the run may take a step, and emits its first event.
func (w *work) begin(next task.StepKind) error {
	if next != task.StepStart && w.tx.Status.Branch == nil {
		return w.tx.WithTaskID(task.ErrNoBranch())
	}
	if next != task.StepDone {
		if err := w.tx.Status.CheckMaxRounds(w.req.MaxRounds); err != nil {
			return w.tx.WithTaskID(err)
		}
	}
	if w.began || next == task.StepStart || next == task.StepBranch {
		return nil
	}
	w.began = true
	w.emit(api.RunEvent{Event: api.RunResumed, Round: w.tx.Status.Round, Branch: w.tx.Status.Branch})
	if w.req.Prompt != "" && w.req.Prompt != w.tx.Status.Prompt {
		w.notice("the task keeps the text that it was started with; another text needs another task")
	}
	return nil
}

// checkVerifies fails before agents run in vain: if the task is not committed without a
// verification, and the run has none.
func (w *work) checkVerifies(next task.StepKind) error {
	now, agents := w.tx.Status, []task.StepKind{task.StepDraft, task.StepAssist, task.StepReview}
	if !now.Verifies || now.Verified != nil || w.config.Verify != nil || w.req.Verify != "" || !slices.Contains(agents, next) {
		return nil
	}
	return w.tx.WithTaskID(errs.New(errs.CommitUnverified, "the task is not committed without a verification, and this run has none").
		WithHint("switchyard run TASK --verify-cmd CMD"))
}

// work is one step of a task: its transaction and the configuration that it runs with.
type work struct {
	*driver
	tx       *tasktx.Tx
	config   project.Config
	recorder *spawns.Recorder
	// tree is the task's tree after the step before, nil if it is not known.
	tree *worktree.Snapshot
}

// open begins a step. The caller must close the result, even after an error.
func (d *driver) open(ctx context.Context) (*work, error) {
	w := &work{driver: d, tree: d.tree}
	d.tree = nil
	config, err := d.project.Config(ctx)
	if err != nil {
		return w, err
	}
	if d.req.Budget != nil {
		config.Budget = *d.req.Budget
	}
	w.config = config
	w.tx, err = tasktx.Open(ctx, d.project, d.id)
	w.recorder = &spawns.Recorder{Tx: w.tx, Config: config, Jobs: d.req.Jobs}
	return w, err
}

func (w *work) close() {
	if w.tx != nil {
		w.tx.Close()
	}
}

func (w *work) review(ctx context.Context) (over bool, err error) {
	if w.tree == nil { // Otherwise the step before has checked the branch.
		err := w.checkBranch(ctx)
		if errs.CodeOf(err) == errs.WorktreeMissing && w.tx.Status.IsUnreviewed() {
			// The draft was one of an earlier round. To stop would not help: a resume leads back here.
			return false, w.runAgent(ctx, task.RoleFixer, true)
		}
		if err != nil {
			return false, w.stopIfGone(ctx, err)
		}
		if err := w.checkDraft(ctx, w.tx.Status.DraftAgent()); err != nil || w.tx.Status.Status != task.Open {
			return false, err
		}
	}
	driven := round.DrivenRound{Jobs: w.req.Jobs, Budget: w.config.Budget, Carry: w.carried != nil, Contradictions: w.contradictions, Tree: w.tree}
	r, err := driven.Run(ctx, w.project, w.id, api.Request{Adapter: w.req.Adapter, Policy: w.req.Policy, Verify: api.VerifyRequest{Command: w.req.Verify}})
	w.driver.tree = driven.Tree
	w.emitSpawns(driven.Spawns) // Even if the round fails.
	if err != nil {
		return false, w.askForBudget(ctx, w.stopIfUnreviewable(ctx, err))
	}
	if w.carried != nil {
		w.carried.Evidence, w.carried.ManualFallback = driven.Evidence, r.ManualFallback != nil
		return true, nil
	}
	w.emit(api.RunEvent{Event: api.RunDecided, Round: r.Round, Decision: &r})
	if r.ManualFallback != nil {
		w.action = api.ActionManualFallback
		return true, nil
	}
	return false, nil
}

// checkDraft makes the task stuck if git cannot commit the draft: a review of it would be for
// nothing. agent has made the draft; it is "" if a person has.
func (w *work) checkDraft(ctx context.Context, agent string) error {
	repo, err := w.project.Repository(ctx)
	if err == nil {
		err = repo.CheckDraft(ctx, w.tx.Tree())
	}
	if errs.CodeOf(err) == errs.TreeUnreadable {
		w.notice("%s", err)
		return w.stop(ctx, strings.TrimPrefix(agent+"-", "-")+string(outcome.ReasonTreeUnreadable))
	}
	return w.stopIfGone(ctx, w.stopIfUnreviewable(ctx, err))
}

// stopIfUnreviewable makes the task stuck if another review of its draft would fail with why
// too, and returns other errors as they are.
func (w *work) stopIfUnreviewable(ctx context.Context, why error) error {
	code := errs.CodeOf(why)
	switch code {
	case errs.DraftEmpty, errs.DraftProtected, errs.GitObjectInvalid, errs.RepositoryNested:
	default:
		return why
	}
	w.notice("%s", why)
	return w.stop(ctx, string(code))
}

// stopIfGone makes the task stuck if why says that its worktree is gone, and returns other
// errors as they are. The draft is lost, which a person must know: the next round begins
// with a new one.
func (w *work) stopIfGone(ctx context.Context, why error) error {
	if errs.CodeOf(why) != errs.WorktreeMissing {
		return why
	}
	w.notice("%s", why)
	return w.stop(ctx, string(outcome.ReasonTreeGone))
}

func (w *work) stop(ctx context.Context, reason string) error {
	return w.tx.Record(ctx, task.StopTask{Reason: reason, By: task.BySwitchyard, FindingCount: -1})
}

// ask asks the user, if the caller can, and reports whether a question stays open.
func (w *work) ask(ctx context.Context) (over bool, err error) {
	questions := w.tx.Status.Questions
	w.emit(api.RunEvent{Event: api.RunAsked, Round: questions.Round, Questions: questions.Open})
	if w.req.Ask == nil {
		return true, nil
	}
	for _, q := range questions.Open {
		answer := w.req.Ask(ctx, q)
		if answer == nil {
			return w.isOpen(ctx, q), nil
		}
		answer.Question = q.Fingerprint
		_, err = w.rounds.Answer(ctx, w.id, *answer)
		if slices.Contains(droppedAnswerCodes, errs.CodeOf(err)) {
			w.notice("%s", err)
			return false, nil // The next step asks again if the question is still open.
		}
		if err != nil {
			return false, err
		}
	}
	w.emit(api.RunEvent{Event: api.RunAnswered, Round: questions.Round})
	return false, nil
}

// isOpen reports whether a question is still open. While the user was asked, it may have expired,
// or another command may have answered it.
func (w *work) isOpen(ctx context.Context, q task.Question) bool {
	if err := w.tx.Begin(ctx); err != nil || w.tx.Status.Questions == nil {
		return err != nil
	}
	return slices.ContainsFunc(w.tx.Status.Questions.Open, func(open task.Question) bool { return open.Fingerprint == q.Fingerprint })
}

// parkPoll is how often a parked run checks whether a user has ended its parking.
const parkPoll = time.Second

// park waits for the end of a usage limit, if the caller wants to, and reports whether the
// task stays parked.
func (w *work) park(ctx context.Context) (over bool, err error) {
	until := w.tx.Status.Parked.Until
	w.emit(api.RunEvent{Event: api.RunParked, Round: w.tx.Status.Round, Until: until})
	end := ledger.Event{At: until}.Time()
	if left := end.Sub(w.project.Now()); w.req.Wait < w.waited+left {
		return true, nil
	}
	w.close()
	w.tx = nil
	begin := w.project.Now()
	defer func() { w.waited += w.project.Now().Sub(begin) }()
	tick := time.NewTicker(parkPoll)
	defer tick.Stop()
	for w.project.Now().Before(end) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if now, err := w.status(ctx); err != nil || now.Status != task.Parked {
			return false, err
		}
	}
	return false, nil
}

func (d *driver) status(ctx context.Context) (api.TaskStatus, error) {
	return core.WithTask(ctx, d.project, d.id, func(r *record.Task) (api.TaskStatus, error) { return r.Status.Public(), nil })
}

// result returns the result of a run that ended at the current status of the task.
func (d *driver) result(ctx context.Context, failed bool) api.RunResult {
	r := api.RunResult{TaskID: d.id, NextAction: api.ActionFailed, Subject: d.subject, Verify: d.req.Verify}
	now, err := d.status(ctx)
	if err != nil {
		return r
	}
	r.Status, r.Round, r.MaxRounds, r.Branch, r.Merge, r.Spent = now.Status, now.Round, now.MaxRounds, now.Branch, now.Merge, now.Spent
	if now.Commit != nil {
		r.Commit = now.Commit.SHA
	}
	if now.Last != nil {
		r.Reason = now.Last.Reason
	}
	switch {
	case failed:
	case now.Status == task.Committed || now.Status == task.Merging:
		r.NextAction = policies.Commit
	case now.Status == task.Waiting:
		r.NextAction, r.Questions = api.ActionAskUser, now.Questions.Open
	case now.Status == task.Parked:
		r.NextAction, r.Until = api.ActionParked, now.Parked.Until
	case now.Status == task.Stuck:
		r.NextAction, r.Reason = api.ActionStuck, now.Stop.Reason
	default:
		r.NextAction = cmp.Or(d.action, api.ActionFailed)
	}
	return r
}
