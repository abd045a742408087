package main

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

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
		Short: "Lock a version, with what was proven about it in its record",
		Long: `Release holds a version against the rules of policy lint, and refuses it where
one is broken. Else it writes into the front matter of its decision record what
the version replaces, what it changes in meaning and what replaying the ledger
came to, and the changes as tables into its text, and adds the version's digest
to policies/versions.lock. From then on the version never changes.

VERSION is as routing@1.3.0 or 1.3.0. Left out, it is the one that is a draft, or
where there is none, the newest. Its decision record must be accepted, or
--accept makes it so.

The rounds of the project's own ledger are replayed, or those of --ledger. The
record is written first and the lock last: a release that was cut short is none,
and doing it again completes it. Doing it once more changes nothing.`,
		Example: `  switchyard policy release 1.3.0 --accept
  switchyard policy release routing@1.3.0 --ledger recorded.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("the VERSION")(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&accept, "accept", false, "set the decision record's status to accepted")
	flags.StringVar(&file, "ledger", "", "replay the ledger or the export in `FILE` (default the project's ledger)")
	tree.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		version := asVersion(policyArg(args))
		at, err := a.inTree(tree, flags, file)
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("proving " + version)
			released, err := e.Policies().Workspace(at.versions, at.records).Release(ctx, version, accept, file)
			done()
			if findings, ok := refusal(err); ok {
				return a.after(func(p *render.Printer) {
					for _, f := range findings {
						p.LintFinding(f)
					}
				}, err)
			}
			if err != nil {
				return err
			}
			return a.print(released, func(p *render.Printer) { p.Release(released) })
		})
	})
	return cmd
}

// refusal takes the findings out of the error of a version that is not fit to be
// released.
func refusal(err error) ([]release.Finding, bool) {
	if f, ok := errors.AsType[*errs.Error](err); ok {
		findings, ok := f.Details["findings"].([]release.Finding)
		return findings, ok
	}
	return nil, false
}
