package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/policies"
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
			policy, err := e.Policy(ctx, policyArg(args), allowUnsigned)
			if err != nil {
				return err
			}
			ladder, err := policy.Ladder(ctx)
			if err != nil {
				return err
			}
			shown := laidOut(policy, ladder)
			if rego {
				shown.Sources = policy.Sources()
			}
			return a.print(shown, func(p *page) {
				if rego {
					p.rego(shown.Sources)
				} else {
					p.policy(shown)
				}
			})
		})
	})
	return cmd
}

// shownPolicy is what show prints as JSON.
type shownPolicy struct {
	Policy policies.Identity `json:"policy"`
	Title  string            `json:"title"`
	// Signer is the key that signed its bundle, "" for none.
	Signer string `json:"signer,omitzero"`
	// Destinations come strongest first, and behind them those that no finding can
	// have.
	Destinations []shownDestination `json:"destinations"`
	Precedence   []string           `json:"precedence"`
	Rungs        []policies.Rung    `json:"rungs"`
	Sources      []policies.Source  `json:"sources,omitzero"`
}

// shownDestination is a destination with the categories that are routed to it.
type shownDestination struct {
	Name string `json:"name"`
	policies.Destination
	Categories []string `json:"categories"`
}

// laidOut is a policy as show prints it.
func laidOut(policy *policies.Policy, ladder *policies.Ladder) shownPolicy {
	shown := shownPolicy{
		Policy: policy.Identity(), Title: policy.Title(), Signer: policy.Signer(),
		Precedence: policy.Precedence(), Rungs: ladder.Rungs(),
	}
	declared := policy.Destinations()
	for _, name := range strongestFirst(policy) {
		d := shownDestination{Name: name, Destination: declared[name], Categories: []string{}}
		for category, to := range sortedRoutes(policy) {
			if to == name {
				d.Categories = append(d.Categories, category)
			}
		}
		shown.Destinations = append(shown.Destinations, d)
	}
	return shown
}
