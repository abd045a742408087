package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/findingformat"
	"github.com/switchyard-dev/switchyard/policies"
)

func newRouteCmd(a *app) *cobra.Command {
	var f decisionFlags
	var input string
	var explain bool
	claim := policies.Absent
	cmd := &cobra.Command{
		Use:   "route --report [PLUGIN=]FILE",
		Short: "Decide on reports alone, without recording anything",
		Long: `Route reads critics' reports, merges their findings and decides where they go.
It records nothing and needs no task: the same input gives the same decision.

Without --round the round is the one that the reports name, else 1.

--explain adds which rule of the policy decided, what it outranked, and the
smallest change that would alter the decision. --input evaluates the policy on an
input file instead of reports: the "input" of a decision, or a counterexample of
policy verify.

--format writes the open findings for another tool instead of the decision, as it
does for switchyard findings.`,
		Example: `  switchyard route --report report.json
  golangci-lint run --output.sarif.path=stdout --show-stats=false | switchyard route --report sarif=-
  switchyard route --report critic.json --report lint.sarif --verify green --output json
  switchyard route --report critic.json --explain
  switchyard route --report critic.json --report lint.sarif --format github
  switchyard route --input counterexample.json --policy candidate/`,
		Args: reportsAsFlags,
	}
	flags := cmd.Flags()
	f.register(a, flags)
	verifyVar(flags, &claim, "")
	cli.TextVar(flags, &input, "input", "evaluate the policy on the input in `FILE`, - for standard input, and read no reports")
	flags.BoolVar(&explain, "explain", false, "say why, and what would alter the decision")
	a.formatVar(cmd)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if names := cli.Given(flags, "input", "explain"); findingformat.Find(string(a.Output)) != nil && len(names) > 0 {
			return cli.Usagef("--format %s has only findings: leave %s out", a.Output, names[0])
		}
		if names := cli.Given(flags, "report", "plugin", "round", "max-rounds", "verify"); input != "" && len(names) > 0 {
			return cli.Usagef("--input replaces reports and verification: leave %s out", names[0])
		}
		if input != "" {
			d, err := e.Ask(ctx, api.AskRequest{Path: input, Stdin: a.In, Policy: f.req.Policy, Explain: explain})
			return a.showDecision(d, err, f.exitCode)
		}
		req, err := f.request(a, e)
		if err != nil {
			return err
		}
		req.Verify.Claim, req.Explain = claim, explain
		d, err := e.Route(ctx, req)
		return a.showDecision(d, err, f.exitCode)
	})
	return cmd
}

// reportsAsFlags is cli.NoArgs with an error that names --report, since users are likely to
// pass a report as an argument.
func reportsAsFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q; a report is given by --report %s", args[0], args[0])
	}
	return nil
}
