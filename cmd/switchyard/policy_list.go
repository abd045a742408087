package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
)

func newPolicyListCmd(a *app) *cobra.Command {
	var tree treeFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the versions of the policy, and which one is in use",
		Long: `List shows the versions that are built in and those in the project's folder
policies/routing, oldest first, with their decision records. A version is
  released  its digest is that of policies/versions.lock, or it is built in
  draft     it is not in the lock yet
  edited    its digest differs from the lock: a released version was changed

After them come the policy that switchyard.yaml names and the adopted policy, if
they are others. The ledger has a copy of the adopted policy, which is the one
that decides. A policy that cannot be loaded is listed with the reason.`,
		Example: `  switchyard policy list
  switchyard policy list --output json | jq -r '.policies[] | select(.adopted).ref'`,
		Args: noArgs,
	}
	tree.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		at, err := a.inTree(tree, cmd.Flags())
		if err != nil {
			return err
		}
		return answer(ctx, a, func(e *host.Engine) (api.PolicyInventory, error) {
			return e.Policies().Workspace(at.versions, at.records).List(ctx)
		}, (*render.Printer).PolicyList)
	})
	return cmd
}
