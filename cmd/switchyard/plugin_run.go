package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
)

func newPluginRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run PLUGIN REPORT",
		Short: "Normalise one report and show what the host would get",
		Long: `Run has a plugin read one report, with the project's settings for it, and shows
what would be merged and routed: the findings, the skipped items with their
reasons, and the rules for which no setting has a category. Nothing is decided or
recorded.

PLUGIN may also be auto, or a folder of plugins, one of which has to recognise the
report. REPORT - is standard input.`,
		Example: `  switchyard plugin run auto lint.sarif
  switchyard plugin run ./my-linter.wasm report.json --output json
  eslint --format json . | switchyard plugin run eslint -`,
		Args: exactly("the PLUGIN", "the REPORT"),
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return answer(ctx, a, func(e *host.Engine) (render.NormalizedView, error) {
			n, err := e.Plugins().Normalize(ctx, api.ReportRef{Plugin: args[0], Path: args[1]}, a.in)
			if err != nil {
				return render.NormalizedView{}, err
			}
			return render.NewNormalizedView(n), nil
		}, (*render.Printer).Normalized)
	})
	return cmd
}
