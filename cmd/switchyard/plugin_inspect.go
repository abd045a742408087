package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
)

func newPluginInspectCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect PLUGIN",
		Short: "Show a plugin's digest, interface and description",
		Long: `Inspect shows a plugin's digest and size, its imports and exports, the memory that
it declares, its limits, and its description of itself: its name and version, the
formats that it reads, how its reports are detected, and the items that it accounts
for. Only the plugin's start and description functions run, in the sandbox.

A file that is not a plugin is shown as far as it can be read; then the command
fails with the reason.`,
		Example: `  switchyard plugin inspect sarif
  switchyard plugin inspect ./my-linter.wasm
  switchyard plugin inspect ./my-linter.wasm --output json | jq .imports`,
		Args: exactly("the PLUGIN"),
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			in, err := e.Plugins().Inspect(ctx, args[0])
			if in.Digest == "" {
				return err
			}
			return showCheck(a, render.NewInspection(in), (*render.Printer).PluginInspection, err)
		})
	})
	return cmd
}
