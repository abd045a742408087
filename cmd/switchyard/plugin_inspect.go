package main

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPluginInspectCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect PLUGIN",
		Short: "Show what a plugin is, needs and says of itself",
		Long: `Inspect shows a plugin's digest and size, what it imports and exports, the memory
that it declares, the limits that it runs under, and what it says of itself: its
name and version, the formats that it reads, how its reports are detected, and
the items that it accounts for. Of the plugin itself only its start and its
description are run, in the sandbox.

A file that is no plugin is shown as far as it can be read; then the command
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
			shown := render.NewInspection(in)
			return errors.Join(a.print(shown, func(p *render.Printer) { p.PluginInspection(in) }), err)
		})
	})
	return cmd
}
