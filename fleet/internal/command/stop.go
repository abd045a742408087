package command

import (
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func newStopCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop TASK",
		Short: "Stop a task",
		Long: `Stop ends the running agent of a task, and then makes the task stuck with the
reason stopped. It returns at once; switchyard-fleet status TASK shows when
the task has ended. Tasks that depend on it are blocked.

switchyard resume TASK --rounds +1, in the project's checkout, and then
switchyard-fleet run TASK continue it.`,
		Example: `  switchyard-fleet stop SHOP-2`,
		Args:    cli.OneTask,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, id := cmd.Context(), args[0]
		return a.with(ctx, func(c client.Client, project string) error {
			t, err := describe(ctx, c, project, id)
			if err != nil {
				return err
			}
			if t.ended() {
				return errs.New(errs.FleetTaskEnded, "%s has ended already", id).With("task", id)
			}
			if err := c.CancelWorkflow(ctx, flow.WorkflowID(project, id), ""); err != nil {
				return serverError(ctx, err)
			}
			return a.showSent(id, "stopping")
		})
	}
	return cmd
}
