package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newStatusCmd(a *app) *cobra.Command {
	var wait bool
	var timeout time.Duration
	var after int64
	var filter taskFilter
	cmd := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show where every task stands",
		Long: `Status shows every task of the project, or one: its status, its round, the latest
decision, the open findings and since when they are open, and the questions that
wait for an answer.

--open, --stuck and --waiting show only the tasks with one of these statuses, and
--limit N only the N tasks that changed last.

With --wait it first waits until something changes. --after N names the latest
event that the caller has seen, which status TASK shows as event, so that no
change is missed between two calls.`,
		Example: `  switchyard status
  switchyard status --stuck --waiting --limit 20
  switchyard status TASK-1 --output json
  switchyard status TASK-1 --wait --timeout 10m`,
		Args: orNothing(oneTask),
	}
	flags := cmd.Flags()
	flags.BoolVar(&wait, "wait", false, "wait until something changes")
	durationVar(flags, &timeout, "timeout", "wait no longer than `DURATION`, such as 10m (default without a limit)")
	numberVar(flags, &after, "after", 0, 0, "with --wait: return once there is an event after number `N` (default the latest)")
	filter.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		if err := filter.check(flags, args); err != nil {
			return err
		}
		if names := given(flags, "timeout", "after"); !wait && len(names) > 0 {
			return usagef("%s needs --wait", names[0])
		}
		id := firstArg(args)
		if wait {
			if !flags.Changed("after") {
				after = -1 // the latest
			}
			if err := a.waitFor(ctx, e, id, after, timeout); err != nil {
				return err
			}
		}
		if id == "" {
			return a.showTasks(ctx, e, filter)
		}
		t, err := e.Task(ctx, id)
		return show(a, t, err, (*render.Printer).Task)
	})
	return cmd
}

func (a *app) waitFor(ctx context.Context, e *host.Engine, id string, after int64, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	defer a.waiting("waiting for a change")()
	return e.Wait(ctx, id, after)
}

func (a *app) showTasks(ctx context.Context, e *host.Engine, filter taskFilter) error {
	tasks, err := e.Tasks(ctx)
	if err != nil {
		return err
	}
	list := render.TaskList{Total: len(tasks)}
	list.Tasks, list.Omitted = filter.apply(tasks)
	list.Policy, err = e.Policies().Adopted(ctx)
	return show(a, list, err, (*render.Printer).TaskList)
}

// taskFilter selects the tasks to show.
type taskFilter struct {
	open, stuck, waiting bool
	limit                int
}

func (f *taskFilter) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.open, "open", false, "show the tasks that are open")
	flags.BoolVar(&f.stuck, "stuck", false, "show the tasks that are stuck")
	flags.BoolVar(&f.waiting, "waiting", false, "show the tasks that wait for an answer")
	numberVar(flags, &f.limit, "limit", 1, 0, "show no more than the `N` tasks that changed last")
}

func (f *taskFilter) check(flags *pflag.FlagSet, args []string) error {
	if names := given(flags, "open", "stuck", "waiting", "limit"); len(args) > 0 && len(names) > 0 {
		return usagef("--open, --stuck, --waiting and --limit choose among all tasks: leave %s out", args[0])
	}
	return nil
}

// statuses returns the selected statuses, nil for all.
func (f *taskFilter) statuses() []task.Status {
	var all []task.Status
	for status, wanted := range map[task.Status]bool{task.Open: f.open, task.Stuck: f.stuck, task.Waiting: f.waiting} {
		if wanted {
			all = append(all, status)
		}
	}
	return all
}

// apply returns the tasks to show, in order, and the number that the limit omits.
func (f *taskFilter) apply(tasks []host.TaskStatus) (shown []host.TaskStatus, omitted int) {
	if statuses := f.statuses(); statuses != nil {
		tasks = slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return !slices.Contains(statuses, t.Status) })
	}
	if f.limit == 0 || len(tasks) <= f.limit {
		return tasks, 0
	}
	latest := make([]string, len(tasks))
	for i, t := range tasks {
		latest[i] = t.UpdatedAt + " " + t.TaskID // Times of one format sort as text.
	}
	slices.Sort(latest)
	omitted = len(tasks) - f.limit
	oldest := latest[omitted]
	return slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return t.UpdatedAt+" "+t.TaskID < oldest }), omitted
}

func newExplainCmd(a *app) *cobra.Command {
	var round int
	cmd := &cobra.Command{
		Use:   "explain TASK",
		Short: "Show why a round went where it went",
		Long: `Explain shows the latest decision of a task, or of one of its rounds: what the
policy saw and chose, every finding with the places that reported it, and the
digests of the reports, plugins and policy behind it.`,
		Example: `  switchyard explain TASK-1
  switchyard explain TASK-1 --round 1 --output json`,
		Args: oneTask,
	}
	roundVar(cmd.Flags(), &round, "explain round `N`, from 1 (default the latest)")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		x, err := e.Explain(ctx, args[0], round)
		return show(a, x, err, (*render.Printer).Explanation)
	})
	return cmd
}
