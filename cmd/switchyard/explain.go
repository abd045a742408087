package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
)

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
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return answer(ctx, a, func(e *host.Engine) (host.Explanation, error) { return e.Explain(ctx, args[0], round) }, (*render.Printer).Explanation)
	})
	return cmd
}
