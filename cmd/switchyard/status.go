package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newStatusCmd(a *app) *cobra.Command {
	var wait bool
	var timeout time.Duration
	var after int64
	cmd := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show where every task stands",
		Long: `Status shows every task of the project, or one: its status, its round, the newest
decision, the findings that are open and since when, and the questions that wait
for an answer.

With --wait it first waits until something changes. --after N names the newest
event that the caller knows, which status TASK shows as event, so that nothing
is missed between two looks.`,
		Example: `  switchyard status
  switchyard status TASK-1 --output json
  switchyard status TASK-1 --wait --timeout 10m`,
		Args: atMostOneTask,
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until something changes")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "wait no longer than `DURATION`, such as 10m (default for ever)")
	cmd.Flags().Int64Var(&after, "after", 0, "with --wait: return once there is an event after number `N` (default the newest)")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
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
			return a.showTasks(ctx, e)
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
	return a.print(t, func(p *page) { p.task(t) })
}

func (a *app) showTasks(ctx context.Context, e *host.Engine) error {
	collectLate()
	tasks, err := e.Tasks(ctx)
	if err != nil {
		return err
	}
	adopted, err := e.Adopted(ctx)
	if err != nil {
		return err
	}
	list := struct {
		Tasks []host.TaskStatus `json:"tasks"`
		// Policy is the one that the project goes by, nil before its first decision.
		Policy *host.Adopted `json:"policy"`
	}{tasks, adopted}
	return a.print(list, func(p *page) {
		p.tasks(tasks)
		if adopted != nil {
			p.line("policy %s, adopted %s by %s", policyShort(adopted.Policy), when(adopted.At), adopted.By)
		}
	})
}
