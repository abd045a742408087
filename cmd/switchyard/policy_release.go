package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
)

func newPolicyReleaseCmd(a *app) *cobra.Command {
	var tree treeFlags
	var accept bool
	var file string
	cmd := &cobra.Command{
		Use:   "release [VERSION]",
		Short: "Lock a version, and write its check results into its record",
		Long: `Release checks a version against the rules of policy lint, and refuses it if it
breaks one. Otherwise it writes to the front matter of the decision record what the
version replaces, what it changes in meaning and the result of replaying the
ledger; adds the changes as tables to its text; and adds the version's digest to
policies/versions.lock. From then on the version never changes.

VERSION is written as routing@1.3.0 or 1.3.0. The default is the draft, or the
latest version if there is no draft. The status of its decision record must be
accepted; --accept sets it.

The rounds of the project's own ledger are replayed, or those of --ledger. The
record is written first and the lock last: repeating a release that was
interrupted completes it. Repeating a complete one changes nothing.`,
		Example: `  switchyard policy release 1.3.0 --accept
  switchyard policy release routing@1.3.0 --ledger recorded.jsonl`,
		Args: orNothing(exactly("the VERSION")),
	}
	flags := cmd.Flags()
	flags.BoolVar(&accept, "accept", false, "set the decision record's status to accepted")
	textVar(flags, &file, "ledger", "replay the ledger or the export in `FILE` (default the project's ledger)")
	tree.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		version := asVersion(firstArg(args))
		at, err := a.inTree(tree, flags)
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("checking " + version)
			released, err := e.Policies().Workspace(at.versions, at.records).Release(ctx, version, accept, file)
			done()
			if err == nil {
				return show(a, released, (*render.Printer).Release)
			}
			// With --output json the findings are part of the error.
			if f, ok := errors.AsType[*errs.Error](err); ok && a.output != outputJSON {
				if findings, ok := f.Details["findings"].([]release.Finding); ok {
					return showCheck(a, findings, (*render.Printer).LintFindings, err)
				}
			}
			return err
		})
	})
	return cmd
}
