package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPolicyShowCmd(a *app) *cobra.Command {
	var rego, allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "show [POLICY]",
		Short: "Show a policy's destinations, table and rules",
		Long: `Show lays a policy out: what it is called, where tasks can go, strongest first
and each with the categories of findings that it takes, and the branches of the
rule decision in the order in which they are tried, with their lines.

--rego prints its Rego files instead. With --output json the texts are as they
are, byte for byte.`,
		Example: `  switchyard policy show
  switchyard policy show routing@1.0.0
  switchyard policy show routing@1.2.0 --rego --output json | jq -r '.sources[0].text'`,
		Args:              atMostOnePolicy,
		ValidArgsFunction: policyRefs,
	}
	cmd.Flags().BoolVar(&rego, "rego", false, "print the Rego files")
	allowUnsignedFlag(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			policy, err := e.Policies().Load(ctx, policyArg(args), allowUnsigned)
			if err != nil {
				return err
			}
			ladder, err := policy.Branches(ctx)
			if err != nil {
				return err
			}
			shown := render.NewPolicyView(policy, ladder)
			if rego {
				shown.Sources = policy.Sources()
			}
			return a.print(shown, func(p *render.Printer) {
				if rego {
					p.Rego(shown.Sources)
				} else {
					p.Policy(shown)
				}
			})
		})
	})
	return cmd
}
