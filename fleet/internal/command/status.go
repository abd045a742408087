package command

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newStatusCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [TASK]",
		Short: "Show the tasks of a project in the fleet",
		Long: `Status shows every task of the project that the server still has, or one: where
it stands, its round, and the question that waits for an answer. It needs the
server alone: no home and no worker has to run.

switchyard status and switchyard explain, in the project's checkout, show what is
recorded of a task.`,
		Example: `  switchyard-fleet status
  switchyard-fleet status SHOP-2 --output json`,
		Args: cli.OrNothing(cli.OneTask),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		return a.with(ctx, func(c client.Client, project string) error {
			if len(args) > 0 {
				t, err := describe(ctx, c, project, args[0])
				return cli.Show(&a.Program, t.result(), err, (*render.Printer).FleetTask)
			}
			tasks, err := readTasks(ctx, c, project)
			list := render.FleetList{Tasks: []api.RunResult{}}
			for _, t := range slices.SortedFunc(maps.Values(tasks), func(a, b fleetTask) int { return cmp.Compare(a.id, b.id) }) {
				list.Tasks = append(list.Tasks, t.result())
			}
			return cli.Show(&a.Program, list, err, (*render.Printer).FleetList)
		})
	}
	return cmd
}
