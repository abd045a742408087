package main

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/policy/bench"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/testdata/series"
)

func newPolicyBenchCmd(a *app) *cobra.Command {
	var refs []string
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "bench [DIR]",
		Short: "Show when policies would have ended published loops",
		Long: `Bench plays series of reviews through policies, review by review: when each policy
ends the loop, how, and which findings are open then. It does so with the default
cap of rounds, and with the highest one, which shows what the policy does by itself.

A series is a file DIR/*.json with the counts of findings that a public source
reports; without DIR the built-in ones are used. docs/policies.md describes the
format, and what a series cannot show.`,
		Example: `  switchyard policy bench
  switchyard policy bench --policy routing@1.3.0 --policy policies/routing/1.4.0
  switchyard policy bench series --output json`,
		Args: cli.OrNothing(cli.Exactly("the DIR")),
	}
	cmd.Flags().StringArrayVar(&refs, "policy", nil, "play through `POLICY`; may be repeated (default all built-in versions)")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		if slices.Contains(refs, "") {
			return cli.Usagef("--policy is empty")
		}
		if refs == nil {
			refs = policies.Versions()
		}
		dir, files := cli.FirstArg(args), fs.FS(series.Files)
		if dir != "" {
			files = os.DirFS(a.project.Abs(dir))
		}
		all, err := bench.Load(files, dir)
		if err != nil {
			return err
		}
		played := make([]*policies.Policy, len(refs))
		for i, ref := range refs {
			if played[i], err = e.Policies().Load(ctx, ref, allowUnsigned); err != nil {
				return err
			}
		}
		report, err := bench.Run(ctx, all, played)
		return cli.Show(&a.Program, report, err, (*render.Printer).PolicyBench)
	})
	return cmd
}
