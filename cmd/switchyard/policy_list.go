package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPolicyListCmd(a *app) *cobra.Command {
	var tree treeFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the versions of the policy, and which one is in use",
		Long: `List shows the versions that are built in and those in the project's folder
policies/routing, oldest first, with their decision records. A version is
  released  its digest is that of policies/versions.lock, or it is built in
  draft     the lock does not have it yet
  edited    the lock has another digest: a released version was changed

Behind them come the policy that switchyard.yaml names and the one that the
project adopted, where they are others; of an adopted one the ledger has a copy,
by which the project goes. A policy that cannot be loaded is listed with the
reason.`,
		Example: `  switchyard policy list
  switchyard policy list --output json | jq -r '.policies[] | select(.adopted).ref'`,
		Args: noArgs,
	}
	tree.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		at, err := a.inTree(tree, cmd.Flags(), "")
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			all, err := e.Policies().Workspace(at.versions, at.records).List(ctx)
			if err != nil {
				return err
			}
			return a.print(all, func(p *render.Printer) { p.PolicyList(all) })
		})
	})
	return cmd
}
