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
review of the round that --round names. With --deferred it lists the deferred
findings instead: those below the policy's bar, each with its round.

Text shows the first 200 findings; --output json has all, with their sources.
--format writes them for another tool; docs/findings.md says how.`,
		Example: `  switchyard findings TASK-1
  switchyard findings TASK-1 --round 2
  switchyard findings TASK-1 --deferred --output json
  switchyard findings TASK-1 --format sarif > findings.sarif
  switchyard findings TASK-1 --format rdjsonl | reviewdog -f=rdjsonl -diff='git diff main'`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	roundVar(flags, &round, "list the findings of round `N`, from 1 (default the latest review)")
	flags.BoolVar(&deferred, "deferred", false, "list the deferred findings")
	a.formatVar(cmd)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		list, err := e.Findings(ctx, args[0], round, deferred)
		return showFindings(a, list, err, (*render.Printer).FindingList, listedReview)
	})
	return cmd
}
