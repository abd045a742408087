package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newFindingsCmd(a *app) *cobra.Command {
	var round int
	var deferred bool
	cmd := &cobra.Command{
		Use:   "findings TASK",
		Short: "List the findings of a task",
		Long: `Findings lists the findings that the latest review of a task left open, or the
review of the round that --round names: the place of each, what is to be done, and
who found it.

With --deferred it lists the deferred findings instead: those below the policy's
bar, which are recorded for later. A finding that an earlier review deferred is one
of them until a later review reports it again. Each is listed with its round.

Text shows the first 200 findings; --output json has all, with their sources.`,
		Example: `  switchyard findings TASK-1
  switchyard findings TASK-1 --round 2
  switchyard findings TASK-1 --deferred --output json`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	roundVar(flags, &round, "list the findings of round `N`, from 1 (default the latest review)")
	flags.BoolVar(&deferred, "deferred", false, "list the deferred findings")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		list, err := e.Findings(ctx, args[0], round, deferred)
		return cli.Show(&a.Program, list, err, (*render.Printer).FindingList)
	})
	return cmd
}
