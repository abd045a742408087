package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newExplainCmd(a *app) *cobra.Command {
	var round int
	cmd := &cobra.Command{
		Use:   "explain TASK",
		Short: "Show why a round went where it went",
		Long: `Explain shows the newest decision of a task, or of one of its rounds: what the
policy saw and chose, every finding with the places that reported it, and the
digests of the reports, plugins and policy behind it.`,
		Example: `  switchyard explain TASK-1
  switchyard explain TASK-1 --round 1 --output json`,
		Args: oneTask,
	}
	cmd.Flags().IntVar(&round, "round", 0, "explain round `N`, from 1 (default the newest)")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if cmd.Flags().Changed("round") && round < 1 {
			return usagef("--round %d: rounds count from 1", round)
		}
		return a.with(ctx, func(e *host.Engine) error {
			x, err := e.Explain(ctx, args[0], round)
			if err != nil {
				return err
			}
			return a.print(x, func(p *render.Printer) { p.Explanation(x) })
		})
	})
	return cmd
}
