package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/policies"
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
			tested, err := e.PolicyTests(ctx, policyArg(args), allowUnsigned)
			if err != nil {
				return err
			}
			done := a.waiting("testing " + policyRef(tested.Identity()))
			report, err := regotest.Run(ctx, tested.Files)
			done()
			if err != nil {
				return err
			}
			shown := testedPolicy{tested.Identity(), report}
			text := func(p *page) { p.tested(shown) }
			if missing := shown.wanting(minimum); missing != "" {
				f := errs.New(errs.PolicyTestsFailed, "policy %s: %s", policyRef(shown.Policy), missing).With("report", shown)
				return a.after(text, f)
			}
			return a.print(shown, text)
		})
	})
	return cmd
}

// testedPolicy is what test prints as JSON.
type testedPolicy struct {
	Policy policies.Identity `json:"policy"`
	regotest.Report
}

// wanting says what the tests lack, "" for nothing.
func (t testedPolicy) wanting(minimum int) string {
	switch n, all := t.Failed+t.Errored, plural(len(t.Tests), "test"); {
	case len(t.Tests) == 0:
		return "there are no tests"
	case n == 1:
		return "1 of " + all + " fails"
	case n > 0:
		return fmt.Sprintf("%d of %s fail", n, all)
	case t.Passed == 0:
		return "all tests are skipped"
	case t.Coverage.Percent < float64(minimum):
		return fmt.Sprintf("the tests reach %s of the lines, and %d %% are asked for", percent(t.Coverage.Percent), minimum)
	}
	return ""
}

// tested shows how the tests of a policy went.
func (p *page) tested(t testedPolicy) {
	mark := p.paint(green, "passed")
	if !t.Clean() {
		mark = p.paint(red, "failed")
	}
	counts := fmt.Sprintf("%s: %d passed", plural(len(t.Tests), "test"), t.Passed)
	for _, more := range []struct {
		n    int
		word string
	}{{t.Failed, "failed"}, {t.Errored, "not carried out"}, {t.Skipped, "skipped"}} {
		if more.n > 0 {
			counts += fmt.Sprintf(", %d %s", more.n, more.word)
		}
	}
	p.line("%s  %s  %s, in %d ms", mark, policyRef(t.Policy), counts, t.Millis)
	if len(t.Tests) == 0 {
		return // They reach nothing, and to list all lines would tell nothing.
	}
	p.line("  reached  %s, %d of %s", percent(t.Coverage.Percent), t.Coverage.Covered, plural(t.Coverage.Lines, "line"))
	for _, test := range t.Tests {
		if test.Outcome != regotest.Passed {
			p.line("")
			p.failedTest(test)
		}
	}
	if len(t.Coverage.Missing) > 0 {
		p.line("")
		p.line("%s", p.paint(bold, "Not reached"))
		for _, at := range t.Coverage.Missing {
			p.line("  %s  %s", placed(at), at.Text)
		}
	}
}

func (p *page) failedTest(t regotest.Test) {
	color, word := red, "FAIL"
	switch t.Outcome {
	case regotest.Skipped:
		color, word = yellow, "skip"
	case regotest.Errored:
		word = "ERROR"
	}
	p.line("%s  %s  %s", p.paint(color, word), t.Name, placed(t.Place))
	if t.Message != "" {
		p.line("  %s", t.Message)
	}
	for _, c := range t.Cases {
		p.line("  case %s", c)
	}
	if t.FailedAt != nil {
		p.line("  %s  %s", placed(*t.FailedAt), t.FailedAt.Text)
	}
	for _, l := range t.Locals {
		p.line("    %s = %s", l.Name, l.Value)
	}
	if t.Output != "" {
		p.block(t.Output)
	}
}

// percent writes a share that is rounded down, without a decimal that is 0.
func percent(share float64) string {
	return tenths(int64(share*10), 10) + " %"
}
