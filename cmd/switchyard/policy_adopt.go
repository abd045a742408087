package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
)

func newPolicyAdoptCmd(a *app) *cobra.Command {
	var req api.AdoptRequest
	cmd := &cobra.Command{
		Use:   "adopt [POLICY]",
		Short: "Make a policy the active one",
		Long: `Adopt records that a policy is the active one from now on: POLICY, or the one that
switchyard.yaml names, or the default. It shows what that changes.

A project's first round adopts the policy that decides it. From then on another
policy decides only after an explicit action, which is recorded with its user:
this command, or --policy for a single decision. If no policy is configured, a
newer Switchyard keeps using the adopted policy, whatever its own default is. If
switchyard.yaml names another policy, or the files of the policy change, the next
round fails with policy-changed until the change is adopted.

A project with keys for policies (policy_trust in switchyard.yaml) refuses a policy
that is older than the adopted one unless --allow-rollback is given.`,
		Example: `  switchyard policy adopt --dry-run
  switchyard policy adopt
  switchyard policy adopt routing@1.1.0`,
		Args: onePolicy(),
	}
	cmd.Flags().BoolVar(&req.AllowRollback, "allow-rollback", false, "accept a policy that is older than the adopted one")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "only show what would change")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		req.Policy = firstArg(args)
		return answer(ctx, a, func(e *host.Engine) (api.Adoption, error) { return e.Policies().Adopt(ctx, req) },
			func(p *render.Printer, adoption api.Adoption) { p.Adoption(adoption, req.DryRun) })
	})
	return cmd
}
