// Package sessions decides whether a session of an agent in the project's checkout may end
// while the fix of a task is due there.
package sessions

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

const maxSession = 2000 // bytes

// Engine decides about sessions. It is safe for concurrent use.
type Engine struct{ project *core.Project }

// New returns an Engine that works on p, which the caller closes after it.
func New(p *core.Project) *Engine { return &Engine{p} }

// dueTask is a task whose fix is due in the project's checkout.
type dueTask struct {
	api.SessionTask
	recorded *record.Task
	block    api.SessionBlock
}

// StopSession decides whether a session of an agent in the project's checkout may end. It
// blocks the session if the last decision on a task sent it to the executor, with open
// findings or a red verification: once for a working tree, for each decision at most as
// often as the task has rounds left, and not after a release. It records the block first.
//
// A session of an agent that Switchyard spawned may always end: the command that spawned it
// judges it.
func (e *Engine) StopSession(ctx context.Context, req api.SessionRequest) (result api.SessionResult, err error) {
	if e.project.Inside() != nil {
		return result, nil
	}
	err = e.record(ctx, event.KindSessionBlocked, func(due []dueTask) (event.Session, error) {
		body := event.Session{By: e.project.By, Session: textutil.FitBytes(req.Session, maxSession)}
		if slices.ContainsFunc(due, dueTask.mayBlock) {
			var err error
			if due, err = e.addBlocking(ctx, due, req.Verify, &body); err != nil {
				return body, err
			}
		}
		result = api.SessionResult{Blocked: len(body.Tasks) > 0}
		for _, t := range due {
			result.Tasks = append(result.Tasks, t.SessionTask)
		}
		return body, nil
	})
	return result, err
}

// addBlocking adds the tasks that block the session to the event, unless a session was blocked
// with the same working tree before. It returns the tasks that are still due after the
// verification.
func (e *Engine) addBlocking(ctx context.Context, due []dueTask, verify bool, body *event.Session) ([]dueTask, error) {
	config, err := e.project.Config(ctx)
	if err != nil {
		return nil, err
	}
	tx := &tasktx.Tx{Project: e.project, Task: *due[0].recorded}
	isBlocked := func() (bool, error) {
		if body.Tree, err = digestTree(ctx, tx, config); err != nil {
			return false, err
		}
		return slices.ContainsFunc(due, func(t dueTask) bool { return t.block.Tree == body.Tree }), nil
	}
	if blocked, err := isBlocked(); blocked || err != nil {
		return due, err
	}
	var outcome policies.Verify
	if verify && config.Verify != nil {
		if err := verification.CheckAllowed(tx, api.VerifyRequest{}, config); err != nil {
			return nil, err
		}
		v, err := verification.Run(ctx, tx, config, *config.Verify, tx.Tree())
		if err != nil {
			return nil, err
		}
		outcome = v.Outcome
		for i := range due {
			due[i].Red, due[i].Output = outcome == policies.Red, v.Output
		}
		due = slices.DeleteFunc(due, func(t dueTask) bool { return !t.Red && len(t.Findings) == 0 })
		// The verification may have changed files.
		if blocked, err := isBlocked(); blocked || err != nil {
			return due, err
		}
	}
	for _, t := range due {
		if t.mayBlock() {
			body.Tasks = append(body.Tasks, event.SessionTask{Task: t.TaskID, Round: t.Round, DecidedAt: t.recorded.Status.DecidedAt, Verify: string(outcome)})
		}
	}
	return due, nil
}

// digestTree identifies the files of the checkout. It uses git if it can, because git only
// reads files that have changed since it last read them.
func digestTree(ctx context.Context, tx *tasktx.Tx, config project.Config) (string, error) {
	if repo, err := tx.Project.Repository(ctx); err == nil {
		if tree, err := repo.QuickCheckoutTree(ctx); err == nil {
			return tree, nil
		}
	}
	shot, err := verification.Snapshot(ctx, tx, config, nil)
	if err != nil {
		return "", err
	}
	return shot.Digest(), nil
}

func (t dueTask) mayBlock() bool { return t.block.Blocks < max(t.MaxRounds-t.Round+1, 1) }

// isWithExecutor reports whether the task's last decision sent it to an executor in the
// project's checkout. The fix of a task with a worktree is made there.
func isWithExecutor(k record.StoredStatus) bool {
	return k.Status == task.Open && k.Branch == nil && k.Last != nil && k.Last.NextRound == k.Round && k.Last.NextAction == string(task.RoleExecutor)
}

// dueTasks lists the tasks that may block a session, by id.
func (e *Engine) dueTasks(ctx context.Context, l *ledger.Ledger) ([]dueTask, error) {
	var due []dueTask
	for r, err := range record.All(ctx, l) {
		if err != nil {
			return nil, err
		}
		now := r.Status
		if !isWithExecutor(now) {
			continue
		}
		if running, err := spawns.IsRunning(ctx, e.project, now); err != nil {
			return nil, err
		} else if running {
			continue
		}
		last := now.Last
		t := dueTask{recorded: r, SessionTask: api.SessionTask{
			TaskID: now.TaskID, Round: now.Round, MaxRounds: now.MaxRounds,
			Red: policies.Verify(last.Verify) == policies.Red && now.Verified == nil, Handoff: handoff.Current(e.project, now),
		}}
		if t.Red && last.Verification != nil {
			t.Output = last.Verification.Output
		}
		if t.Findings, err = r.OpenFindings(ctx); err != nil {
			return nil, err
		}
		block, err := r.SessionBlock(ctx)
		if err != nil {
			return nil, err
		}
		if block != nil {
			t.block = *block
		}
		if t.block.DecidedAt != now.DecidedAt {
			t.block = api.SessionBlock{Tree: t.block.Tree}
		}
		if t.block.Released == nil && (t.Red || len(t.Findings) > 0) {
			due = append(due, t)
		}
	}
	return due, nil
}

// ReleaseSession ends the blocking of sessions because of a task's last decision, or of all
// tasks if id is "", and returns the tasks.
//
// # Errors
//
// session-not-blocked if no such task blocks sessions, and spawn-reentrant.
func (e *Engine) ReleaseSession(ctx context.Context, id, reason string) ([]string, error) {
	if id != "" {
		if err := task.CheckID(id); err != nil {
			return nil, err
		}
	}
	if err := e.project.Inside(); err != nil {
		return nil, err
	}
	var released []string
	err := e.record(ctx, event.KindSessionReleased, func(due []dueTask) (event.Session, error) {
		body := event.Session{By: e.project.By, Reason: reason}
		released = nil
		for _, t := range due {
			if id == "" || t.TaskID == id {
				body.Tasks = append(body.Tasks, event.SessionTask{Task: t.TaskID, Round: t.Round, DecidedAt: t.recorded.Status.DecidedAt})
				released = append(released, t.TaskID)
			}
		}
		switch {
		case id != "" && released == nil:
			return body, errs.New(errs.SessionNotBlocked, "task %s does not block sessions", id).With("task", id)
		case released == nil:
			return body, errs.New(errs.SessionNotBlocked, "no task in %s blocks a session", e.project.Root)
		}
		return body, nil
	})
	return released, err
}

// record appends the event that decide returns for the tasks that are due, unless the event has no
// tasks. If another session is first, it begins anew.
func (e *Engine) record(ctx context.Context, kind string, decide func([]dueTask) (event.Session, error)) error {
	l, err := e.project.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for {
		head, err := l.Head(ctx, event.SessionsChain)
		if err != nil {
			return err
		}
		due, err := e.dueTasks(ctx, l)
		if err != nil {
			return err
		}
		body, err := decide(due)
		if err != nil || len(body.Tasks) == 0 {
			return err
		}
		text, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			return err
		}
		_, err = e.project.Append(ctx, l, ledger.Batch{Task: event.SessionsChain, After: head.N, Events: []ledger.NewEvent{{Kind: kind, Body: text}}})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return err
		}
	}
}
