package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
)

func newPolicyShowCmd(a *app) *cobra.Command {
	var rego, allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "show [POLICY]",
		Short: "Show a policy's destinations, table and rules",
		Long: `Show prints a policy: its name, its destinations, strongest first and each with
the categories of findings that are routed to it, and the branches of the rule
decision in the order in which they are tried, with their lines.

--rego prints its Rego files instead. With --output json they are printed byte for
byte.`,
		Example: `  switchyard policy show
  switchyard policy show routing@1.0.0
  switchyard policy show routing@1.2.0 --rego --output json | jq -r '.sources[0].text'`,
		Args: onePolicy(),
	}
	cmd.Flags().BoolVar(&rego, "rego", false, "print the Rego files")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			policy, err := e.Policies().Load(ctx, firstArg(args), allowUnsigned)
			if err != nil {
				return err
			}
			shown, err := render.NewPolicyView(ctx, policy)
			if err != nil {
				return err
			}
			if rego {
				shown.Sources = policy.Sources()
				return show(a, shown, func(p *render.Printer, v render.PolicyView) { p.Rego(v.Sources) })
			}
			return show(a, shown, (*render.Printer).Policy)
		})
	})
	return cmd
}
