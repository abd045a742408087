package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newRoundCmd(a *app) *cobra.Command {
	var f requestFlags
	cmd := &cobra.Command{
		Use:   "round TASK --report [PLUGIN=]FILE",
		Short: "Decide a task's round and record the decision",
		Long: `Round reads the critics' reports of a task's current round, decides where the
task goes, and records the decision in the project's ledger. When it succeeds,
the decision is durable; when it fails, nothing has changed.

A report that names another task or another round is refused. With --round the
command is refused too unless the task is in that round: use it with reports
that cannot say which round they are about.`,
		Example: `  switchyard round TASK-1 --report report.json --verify green
  switchyard round TASK-1 --report critic.json --report lint.sarif --max-rounds 5
  switchyard round TASK-1 --report - --exit-code < report.json`,
		Args: oneTask,
	}
	cmd.Long += "\n" + decisionStatus
	f.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (host.Decision, error) {
			return e.Round(ctx, args[0], req)
		})
	})
	return cmd
}
