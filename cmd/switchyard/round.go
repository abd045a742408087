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
		Long: `Round verifies a task's draft, reads the critics' reports of its current round,
decides where the task goes, and records the decision in the project's ledger.
When it succeeds, the decision is durable; when it fails, nothing has changed.

Verification is the command that --verify-cmd gives, else the project's own from
switchyard.yaml; its output is in .switchyard/verify. --verify and
--verify-exit-code tell of one that ran elsewhere. A red verification sends the
task back also without a report. Once a task was verified, it is not committed
without a green verification of its round.

A report that names another task or another round is refused. With --round the
command is refused too unless the task is in that round: use it with reports
that cannot say which round they are about.`,
		Example: `  switchyard round TASK-1 --report report.json --verify-cmd 'make test'
  switchyard round TASK-1 --report critic.json --report lint.sarif --max-rounds 5
  switchyard round TASK-1 --report - --exit-code < report.json`,
		Args: oneTask,
	}
	cmd.Long += "\n" + decisionStatus
	f.registerTask(cmd.Flags())
	f.verify.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (host.Decision, error) {
			defer a.waiting("verifying and deciding " + args[0])()
			return e.Round(ctx, args[0], req)
		})
	})
	return cmd
}
