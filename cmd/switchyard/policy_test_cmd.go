package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
)

// The file cannot be named policy_test.go: Go would treat it as a test file.

func newPolicyTestCmd(a *app) *cobra.Command {
	var minimum int
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "test [POLICY]",
		Short: "Run a policy's Rego tests, and measure their coverage",
		Long: `Test runs the rules whose names begin with test_ in the files *_test.rego of a
policy, as opa test does, and measures which lines of the policy they reach. A
test that fails is shown with the expression that did not hold and the values in
it. Like policies, tests can call only functions whose result never changes.

The policy is a built-in one or a directory; a bundle has no tests. The command
fails if a test fails, if there are no tests, and with --coverage-min if fewer of
the lines are reached. policy lint requires 100 per cent.`,
		Example: `  switchyard policy test policies/routing/1.3.0
  switchyard policy test policies/routing/1.3.0 --coverage-min 100
  switchyard policy test --output json | jq .coverage.missing`,
		Args: onePolicy(),
	}
	numberVar(cmd.Flags(), &minimum, "coverage-min", 0, 100, "fail if less than `PERCENT` of the lines are reached", "it is from 0 to 100")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			tested, err := e.Policies().LoadTests(ctx, firstArg(args), allowUnsigned)
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
			var failure error
			if problem := shown.Problem(minimum); problem != "" {
				failure = errs.New(errs.PolicyTestsFailed, "policy %s: %s", render.PolicyRef(shown.Policy), problem).With("report", shown)
			}
			return showCheck(a, shown, (*render.Printer).RegoTests, failure)
		})
	})
	return cmd
}
