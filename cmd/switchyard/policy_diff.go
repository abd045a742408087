package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// exitDiffers is the exit status of policy diff --exit-code if the policies differ.
const exitDiffers = 10

func newPolicyDiffCmd(a *app) *cobra.Command {
	var exitCode, allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show what changes in meaning from one policy to another",
		Long: `Diff compares the behaviour of two policies, not their text: categories that are
added, removed or re-routed, destinations, the precedence, and every input class
that they decide differently. The changed decisions are shown as a matrix of from
and to, and each group with its smallest input. Formatting, comments and names
make no difference.

It also says which step in the version the change needs: none, minor or major.

--output markdown prints tables to paste into a decision record. With --exit-code
the exit status is 10 if the policies differ, and 0 if not.`,
		Example: `  switchyard policy diff routing@1.1.0 routing@1.2.0
  switchyard policy diff routing@1.2.0 policies/routing/1.3.0 --output markdown
  switchyard policy diff before.tar.gz after.tar.gz --exit-code`,
		Args: exactly("the first POLICY", "the second POLICY"),
	}
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 10 if they differ")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	a.offerMarkdown(cmd)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			from, err := e.Policies().Load(ctx, args[0], allowUnsigned)
			if err != nil {
				return err
			}
			to, err := e.Policies().Load(ctx, args[1], allowUnsigned)
			if err != nil {
				return err
			}
			done := a.waiting("comparing all decisions")
			d, err := diff.Compare(ctx, from, to)
			done()
			if err != nil {
				return err
			}
			if exitCode && !d.Empty() {
				a.exit = exitDiffers
			}
			if a.output == outputMarkdown {
				return a.printText(textutil.Lines(d.Markdown()))
			}
			return show(a, render.NewDiffView(d), (*render.Printer).PolicyDiff)
		})
	})
	return cmd
}
