package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
)

// The file cannot be called policy_test.go: that would make it one of tests.

func newPolicyTestCmd(a *app) *cobra.Command {
	var minimum int
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "test [POLICY]",
		Short: "Run a policy's Rego tests, and measure what they reach",
		Long: `Test runs the rules whose names begin with test_ in the files *_test.rego of a
policy, as opa test does, and measures which lines of the policy they reach. A
test that fails is shown with the expression that did not hold and the values in
it. Tests may call what policies may: nothing whose result changes from one run
to the next.

The policy is one that is built in or a directory; a bundle carries no tests. It
fails if a test fails, if there is none, and with --coverage-min if fewer of the
lines are reached. policy lint asks for 100 per cent.`,
		Example: `  switchyard policy test policies/routing/1.3.0
  switchyard policy test policies/routing/1.3.0 --coverage-min 100
  switchyard policy test --output json | jq .coverage.missing`,
		Args:              atMostOnePolicy,
		ValidArgsFunction: policyRefs,
	}
	cmd.Flags().IntVar(&minimum, "coverage-min", 0, "fail where less than `PERCENT` of the lines are reached")
	allowUnsignedFlag(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if minimum < 0 || minimum > 100 {
			return usagef("--coverage-min %d: it is from 0 to 100", minimum)
		}
		return a.with(ctx, func(e *host.Engine) error {
			tested, err := e.Policies().LoadTests(ctx, policyArg(args), allowUnsigned)
			if err != nil {
				return err
			}
			done := a.waiting("testing " + render.PolicyRef(tested.Identity()))
			report, err := regotest.Run(ctx, tested.Files)
			done()
			if err != nil {
				return err
			}
			shown := render.TestedPolicy{Policy: tested.Identity(), Report: report}
			text := func(p *render.Printer) { p.RegoTests(shown) }
			if missing := shown.Problem(minimum); missing != "" {
				f := errs.New(errs.PolicyTestsFailed, "policy %s: %s", render.PolicyRef(shown.Policy), missing).With("report", shown)
				return a.after(text, f)
			}
			return a.print(shown, text)
		})
	})
	return cmd
}
