package main

import (
	"context"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
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
		Long: `Status shows every task of the project, or one: its status, its round, the newest
decision, the findings that are open and since when, and the questions that wait
for an answer.

--open, --stuck and --waiting show the tasks in one of these statuses alone, and
--limit N only the N that changed last.

With --wait it first waits until something changes. --after N names the newest
event that the caller knows, which status TASK shows as event, so that nothing
is missed between two looks.`,
		Example: `  switchyard status
  switchyard status --stuck --waiting --limit 20
  switchyard status TASK-1 --output json
  switchyard status TASK-1 --wait --timeout 10m`,
		Args: atMostOneTask,
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until something changes")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "wait no longer than `DURATION`, such as 10m (default for ever)")
	cmd.Flags().Int64Var(&after, "after", 0, "with --wait: return once there is an event after number `N` (default the newest)")
	filter.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if err := filter.check(cmd.Flags(), args); err != nil {
			return err
		}
		switch {
		case !wait && (cmd.Flags().Changed("timeout") || cmd.Flags().Changed("after")):
			return usagef("--timeout and --after say how to --wait, which is missing")
		case cmd.Flags().Changed("timeout") && timeout <= 0:
			return usagef("--timeout %s: it must be more than nothing", timeout)
		case cmd.Flags().Changed("after") && after < 0:
			return usagef("--after %d: events count from 1, and 0 is before the first", after)
		}
		if !cmd.Flags().Changed("after") {
			after = -1 // Whatever is newest.
		}
		return a.with(ctx, func(e *host.Engine) error {
			id := ""
			if len(args) == 1 {
				id = args[0]
			}
			if wait {
				if err := a.waitFor(ctx, e, id, after, timeout); err != nil {
					return err
				}
			}
			if id != "" {
				return a.showTask(ctx, e, id)
			}
			return a.showTasks(ctx, e, filter)
		})
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

func (a *app) showTask(ctx context.Context, e *host.Engine, id string) error {
	t, err := e.Task(ctx, id)
	if err != nil {
		return err
	}
	return a.print(t, func(p *render.Printer) { p.Task(t) })
}

// taskList is what status prints as JSON without a task.
type taskList struct {
	Tasks []host.TaskStatus `json:"tasks"`
	// Omitted is how many more tasks --limit leaves out.
	Omitted int `json:"omitted,omitzero"`
	// Policy is the active one, nil before the project's first decision.
	Policy *api.Adopted `json:"policy"`
}

func (a *app) showTasks(ctx context.Context, e *host.Engine, filter taskFilter) error {
	collectLate()
	tasks, err := e.Tasks(ctx)
	if err != nil {
		return err
	}
	all := len(tasks)
	tasks, omitted := filter.apply(tasks)
	adopted, err := e.Policies().Adopted(ctx)
	if err != nil {
		return err
	}
	list := taskList{tasks, omitted, adopted}
	return a.print(list, func(p *render.Printer) {
		switch {
		case all == 0:
			p.Line("no tasks yet")
		case len(tasks) == 0:
			p.Line("none of %s", render.Count(all, "task"))
		default:
			p.Tasks(tasks)
		}
		if omitted > 0 {
			p.Line("… and %s that changed earlier", render.Count(omitted, "task"))
		}
		if adopted != nil {
			p.Line("policy %s, adopted %s by %s", render.PolicyID(adopted.Policy), render.Time(adopted.At), adopted.By)
		}
	})
}

// taskFilter says which tasks to show.
type taskFilter struct {
	open, stuck, waiting bool
	limit                int
}

func (f *taskFilter) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.open, "open", false, "show the tasks that are open")
	flags.BoolVar(&f.stuck, "stuck", false, "show the tasks that are stuck")
	flags.BoolVar(&f.waiting, "waiting", false, "show the tasks that wait for an answer")
	flags.IntVar(&f.limit, "limit", 0, "show no more than the `N` tasks that changed last")
}

func (f *taskFilter) check(flags *pflag.FlagSet, args []string) error {
	switch {
	case len(args) > 0 && (f.statuses() != nil || flags.Changed("limit")):
		return usagef("--open, --stuck, --waiting and --limit choose among all tasks: leave %s out", args[0])
	case flags.Changed("limit") && f.limit < 1:
		return usagef("--limit %d: it must be at least 1", f.limit)
	}
	return nil
}

// statuses are those that are asked for, nil for all.
func (f *taskFilter) statuses() []task.Status {
	var all []task.Status
	for status, wanted := range map[task.Status]bool{task.Open: f.open, task.Stuck: f.stuck, task.Waiting: f.waiting} {
		if wanted {
			all = append(all, status)
		}
	}
	return all
}

// apply returns the tasks to show, in their order, and how many the limit leaves out.
func (f *taskFilter) apply(tasks []host.TaskStatus) (shown []host.TaskStatus, omitted int) {
	if statuses := f.statuses(); statuses != nil {
		tasks = slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return !slices.Contains(statuses, t.Status) })
	}
	if f.limit == 0 || len(tasks) <= f.limit {
		return tasks, 0
	}
	latest := make([]string, len(tasks))
	for i, t := range tasks {
		latest[i] = t.UpdatedAt + " " + t.TaskID // Times of one form sort as texts do.
	}
	slices.Sort(latest)
	omitted = len(tasks) - f.limit
	oldest := latest[omitted]
	return slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return t.UpdatedAt+" "+t.TaskID < oldest }), omitted
}
