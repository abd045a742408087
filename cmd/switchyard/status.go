package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newStatusCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show where every task stands",
		Long:  "Status shows every task of the project, or one: its status, its round, and the newest decision.",
		Example: `  switchyard status
  switchyard status TASK-1 --output json`,
		Args: atMostOneTask,
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		e, err := a.open()
		if err != nil {
			return err
		}
		defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
		if len(args) == 1 {
			t, err := e.Task(ctx, args[0])
			if err != nil {
				return err
			}
			return a.print(t, func(p *page) { p.task(t) })
		}
		tasks, err := e.Tasks(ctx)
		if err != nil {
			return err
		}
		list := struct {
			Tasks []host.TaskStatus `json:"tasks"`
		}{tasks}
		return a.print(list, func(p *page) { p.tasks(tasks) })
	})
	return cmd
}
