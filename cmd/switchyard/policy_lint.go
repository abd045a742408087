package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newPolicyLintCmd(a *app) *cobra.Command {
	var tree treeFlags
	var file string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check all versions and their decision records against the rules",
		Long: `Lint checks every version in the project's folder policies/routing,
policies/versions.lock and the decision records in docs/adr:

  each version loads, is formatted by opa fmt, and has METADATA
  it has tests, they pass, and they reach every line
  it keeps all invariants but those that its decision record waives
  its decision record is accepted, gives reasons, and describes correctly what
  the version changes and the result of its replay
  no released version was changed, removed or skipped, and the step in the
  version is large enough for the change
  no agent raises a category that the latest version does not know

Each finding is FILE:ROW:COL: RULE: MESSAGE, with files relative to the project's
root. --ledger decides the rounds of a ledger or an export again, to check the
replays in the records against them; without it they are only checked against the
version's digest.

Versions before the first one in the folder are the built-in ones. From the first
on, the project's own versions count, whatever a later Switchyard has built in
under the same numbers.`,
		Example: `  switchyard policy lint
  switchyard policy lint --ledger recorded.jsonl
  switchyard policy lint --policies rules --adrs rules/decisions --output json`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	tree.register(flags)
	textVar(flags, &file, "ledger", "check replays by the ledger or the export in `FILE`")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		at, err := a.inTree(tree, flags)
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("checking all versions")
			report, err := e.Policies().Workspace(at.versions, at.records).Lint(ctx, file)
			done()
			if err != nil {
				return err
			}
			var failure error
			if n := len(report.Findings); n > 0 {
				failure = errs.New(errs.PolicyLintFailed, "%s in %s", textutil.Count(n, "finding"), textutil.Count(len(report.Versions), "version")).
					With("findings", report.Findings).With("versions", report.Versions)
			}
			return showCheck(a, report, (*render.Printer).Lint, failure)
		})
	})
	return cmd
}
