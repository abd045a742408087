// Package runqueue runs several tasks in the order of their dependencies.
package runqueue

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Run runs tasks with run, at most jobs at a time, and calls ended with the result of each,
// one call after the other. Tasks start in their order, but only after all that they depend
// on are committed, and merged if they are to be merged. A task is blocked if one that it
// depends on ended otherwise. If a task fails, other tasks continue. Dependencies must be
// among the tasks and have no cycle.
//
// Once ctx is done no task starts, and Run returns when the running ones have ended. The
// others get the error interrupted.
func Run(ctx context.Context, tasks []api.RunTask, jobs int,
	run func(context.Context, string, api.RunRequest) (api.RunResult, error), ended func(api.RunResult)) {
	index := make(map[string]int)
	for i, t := range tasks {
		index[t.ID] = i
	}
	started := make([]bool, len(tasks))
	results := make([]*api.RunResult, len(tasks))
	finish := func(i int, r api.RunResult) {
		results[i] = &r
		ended(r)
	}
	ends := make(chan func())
	running := 0
	start := func(i int) {
		started[i] = true
		running++
		go func() {
			req := tasks[i].RunRequest
			req.Jobs = jobs
			r, err := run(ctx, tasks[i].ID, req)
			if err != nil {
				r = failedResult(ctx, tasks[i].ID, r, err)
			}
			ends <- func() { finish(i, r) }
		}()
	}
	for {
		for again := true; again; { // A blocked task blocks others, which may precede it.
			again = false
			for i, t := range tasks {
				if started[i] {
					continue
				}
				if ctx.Err() != nil {
					started[i] = true
					finish(i, failedResult(ctx, t.ID, api.RunResult{}, context.Cause(ctx)))
					continue
				}
				ready := true
				for _, id := range t.DependsOn {
					on := index[id]
					ready = ready && results[on] != nil
					if why := unmet(tasks[on], results[on]); why != "" && !started[i] {
						started[i], again = true, true
						finish(i, api.RunResult{TaskID: t.ID, NextAction: api.ActionBlocked, Reason: why})
					}
				}
				if ready && !started[i] && running < jobs {
					start(i)
				}
			}
		}
		if running == 0 {
			return
		}
		end := <-ends
		running--
		end()
	}
}

// unmet returns why tasks that depend on t cannot start, or "" if they can or t has not ended.
func unmet(t api.RunTask, r *api.RunResult) string {
	switch {
	case r == nil:
		return ""
	case r.NextAction != policies.Commit:
		return t.ID + " is not committed"
	case t.Merge && (r.Merge == nil || r.Merge.Outcome != task.Merged):
		return t.ID + " is not merged"
	default:
		return ""
	}
}

// failedResult adds to the result r of a run that it failed, or was interrupted by the end of ctx.
func failedResult(ctx context.Context, id string, r api.RunResult, err error) api.RunResult {
	r.TaskID, r.NextAction = id, api.ActionFailed
	e, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, context.Cause(ctx)), errors.Is(err, ctx.Err()):
		e = errs.New(errs.Interrupted, "interrupted")
	case ok:
		copied := *e
		copied.Message = err.Error()
		e = &copied
	default:
		e = errs.New(errs.Internal, "%w", err)
	}
	r.Error = e
	return r
}
