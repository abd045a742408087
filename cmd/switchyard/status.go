package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newStatusCmd(a *app) *cobra.Command {
	var wait bool
	var timeout time.Duration
	var after int64
	var limit int
	cmd := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show the status of tasks",
		Long: `Status shows every task of the project, or one: its status, its round, the latest
decision, the open findings and since when they are open, and the questions that
wait for an answer.

--open, --stuck, --waiting and --parked show only the tasks with one of these
statuses, and --limit N only the N tasks that changed last.

With --wait it first waits until something changes. --after N names the latest
event that the caller has seen, which status TASK shows as event, so that no
change is missed between two calls.`,
		Example: `  switchyard status
  switchyard status --stuck --waiting --limit 20
  switchyard status TASK-1 --output json
  switchyard status TASK-1 --wait --timeout 10m`,
		Args: cli.OrNothing(cli.OneTask),
	}
	flags := cmd.Flags()
	flags.BoolVar(&wait, "wait", false, "wait until something changes")
	cli.DurationVar(flags, &timeout, "timeout", "wait no longer than `DURATION`, such as 10m (default without a limit)")
	cli.NumberVar(flags, &after, "after", 0, 0, "with --wait: return once there is an event after number `N` (default the latest)")
	for status, usage := range map[task.Status]string{
		task.Open: "show the tasks that are open", task.Stuck: "show the tasks that are stuck", task.Waiting: "show the tasks that wait for an answer",
		task.Parked: "show the tasks that wait for the end of a usage limit",
	} {
		flags.Bool(string(status), false, usage)
	}
	cli.NumberVar(flags, &limit, "limit", 1, 0, "show no more than the `N` tasks that changed last")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		chosen := cli.Given(flags, "open", "stuck", "waiting", "parked")
		if len(args) > 0 && (len(chosen) > 0 || flags.Changed("limit")) {
			return cli.Usagef("--open, --stuck, --waiting, --parked and --limit choose among all tasks: leave %s out", args[0])
		}
		if names := cli.Given(flags, "timeout", "after"); !wait && len(names) > 0 {
			return cli.Usagef("%s needs --wait", names[0])
		}
		id := cli.FirstArg(args)
		if len(args) > 0 { // An empty id would mean all tasks below.
			if err := task.CheckID(id); err != nil {
				return err
			}
		}
		if wait {
			if !flags.Changed("after") {
				after = -1 // the latest
			}
			if err := a.waitFor(ctx, e, id, after, timeout); err != nil {
				return err
			}
		}
		if id != "" {
			t, err := e.Task(ctx, id)
			return cli.Show(&a.Program, t, err, (*render.Printer).Task)
		}
		tasks, err := e.Tasks(ctx)
		if err != nil {
			return err
		}
		var statuses []task.Status
		for _, name := range chosen {
			statuses = append(statuses, task.Status(strings.TrimPrefix(name, "--")))
		}
		list := render.TaskList{Total: len(tasks)}
		list.Tasks, list.Omitted = selectTasks(tasks, statuses, limit)
		list.Policy, err = e.Policies().Adopted(ctx)
		return cli.Show(&a.Program, list, err, (*render.Printer).TaskList)
	})
	return cmd
}

func (a *app) waitFor(ctx context.Context, e *host.Engine, id string, after int64, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	defer a.showWork("waiting for a change")()
	return e.Wait(ctx, id, after)
}

// selectTasks returns the tasks with one of these statuses, or all tasks without statuses,
// and the number of tasks that the limit omits.
func selectTasks(tasks []host.TaskStatus, statuses []task.Status, limit int) (shown []host.TaskStatus, omitted int) {
	if len(statuses) > 0 {
		tasks = slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return !slices.Contains(statuses, t.Status) })
	}
	if limit == 0 || len(tasks) <= limit {
		return tasks, 0
	}
	changed := func(t host.TaskStatus) string { return t.UpdatedAt + " " + t.TaskID } // Times of one format sort as text.
	latest := make([]string, len(tasks))
	for i, t := range tasks {
		latest[i] = changed(t)
	}
	slices.Sort(latest)
	omitted = len(tasks) - limit
	oldest := latest[omitted]
	return slices.DeleteFunc(tasks, func(t host.TaskStatus) bool { return changed(t) < oldest }), omitted
}
