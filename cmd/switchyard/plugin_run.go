package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/api"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPluginRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run PLUGIN REPORT",
		Short: "Normalise one report and show what the host would get",
		Long: `Run has a plugin read one report, with the project's settings for it, and shows
what would go on to be merged and routed: the findings, what was left out and
why, and the rules that no setting gives a category. Nothing is decided and
nothing is kept.

PLUGIN may also be auto, or a folder of plugins, one of which has to recognise
the report. REPORT - is standard input.`,
		Example: `  switchyard plugin run auto lint.sarif
  switchyard plugin run ./my-linter.wasm report.json --output json
  eslint --format json . | switchyard plugin run eslint -`,
		Args: exactly("the PLUGIN", "the REPORT"),
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		collectLate()
		return a.with(ctx, func(e *host.Engine) error {
			n, err := e.Plugins().Normalize(ctx, api.ReportRef{Plugin: args[0], Path: args[1]}, a.in)
			if err != nil {
				return err
			}
			return a.print(render.NewNormalizedView(n), func(p *render.Printer) { p.Normalized(n) })
		})
	})
	return cmd
}
