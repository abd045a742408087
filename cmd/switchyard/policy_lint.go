package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func newPolicyLintCmd(a *app) *cobra.Command {
	var tree treeFlags
	var file string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Hold all versions and their decision records against the rules",
		Long: `Lint looks at every version in the project's folder policies/routing, at
policies/versions.lock and at the decision records in docs/adr:

  each version loads, is formatted as opa fmt does, and has METADATA
  it has tests, they pass, and reach every line
  it is proven, but for what its decision record waives
  it has a decision record that is accepted, that gives its reasons, and that
  says truly what the version changes and what replaying it came to
  no released version was changed or removed, none is left out, and the step in
  the version is large enough for the change
  no agent raises a category that the newest version does not know

Each finding is FILE:ROW:COL: RULE: MESSAGE, with the files named from the
project's root. --ledger decides a ledger's or an export's rounds again, to hold
what the records say of their replays against them; without it those are only
held against the version's digest.

Versions before the first in the folder are those that are built in. From the
first on the line is the project's own, whatever a later Switchyard has built in
under the same numbers.`,
		Example: `  switchyard policy lint
  switchyard policy lint --ledger recorded.jsonl
  switchyard policy lint --policies rules --adrs rules/decisions --output json`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	tree.register(flags)
	flags.StringVar(&file, "ledger", "", "check replays by the ledger or the export in `FILE`")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		at, err := a.inTree(tree, flags, file)
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("proving all versions")
			report, err := e.Policies().Workspace(at.versions, at.records).Lint(ctx, file)
			done()
			if err != nil {
				return err
			}
			text := func(p *render.Printer) { p.Lint(report) }
			if n := len(report.Findings); n > 0 {
				f := errs.New(errs.PolicyLintFailed, "%s in %s", render.Count(n, "finding"), render.Count(len(report.Versions), "version")).
					With("findings", report.Findings).With("versions", report.Versions)
				return a.after(text, f)
			}
			return a.print(report, text)
		})
	})
	return cmd
}
