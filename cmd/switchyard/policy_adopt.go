package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/api"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPolicyAdoptCmd(a *app) *cobra.Command {
	var req api.AdoptRequest
	cmd := &cobra.Command{
		Use:   "adopt [POLICY]",
		Short: "Make a policy the one that the project goes by",
		Long: `Adopt records that the project goes by a policy from now on: POLICY, or the one
that switchyard.yaml names, or the default. It shows what that changes.

A project's first round adopts the policy that decides it. From then on another
policy decides only by an explicit act, which is recorded with who did it: this
command, or --policy for a single decision. Where nothing is configured, a newer
Switchyard goes on with the policy that was adopted, whatever its own default
is. Where switchyard.yaml names a policy, or the files of that policy change,
the next round fails with policy-changed until the change is adopted.

A project that has keys for policies (policy_trust in switchyard.yaml) refuses
one that is older than the adopted one, unless --allow-rollback says otherwise.`,
		Example: `  switchyard policy adopt --dry-run
  switchyard policy adopt
  switchyard policy adopt routing@1.1.0`,
		Args:              atMostOnePolicy,
		ValidArgsFunction: policyRefs,
	}
	cmd.Flags().BoolVar(&req.AllowRollback, "allow-rollback", false, "let an older policy follow a newer one")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "only show what would change")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		req.Policy = policyArg(args)
		return a.with(ctx, func(e *host.Engine) error {
			adoption, err := e.Policies().Adopt(ctx, req)
			if err != nil {
				return err
			}
			return a.print(adoption, func(p *render.Printer) { p.Adoption(adoption, req.DryRun) })
		})
	})
	return cmd
}
