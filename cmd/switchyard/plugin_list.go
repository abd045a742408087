package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newPluginListCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be used by name",
		Long: `List shows the built-in plugins and those that the project brings along: where
each comes from, and the formats that it reads; and the configurations that have
names of their own, with the plugin that each uses. With --output json it shows
the whole digest, and all that a plugin says of itself.

The exit status is 1 if one of them cannot be used, as a file that is not the one
that switchyard.lock pins. The others are listed all the same.`,
		Example: `  switchyard plugin list
  switchyard plugin list --output json | jq -r '.plugins[].name'`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			all, err := e.Plugins().List(ctx)
			if err != nil {
				return err
			}
			if !all.OK {
				a.exit = exitFault
			}
			return a.print(all, func(p *render.Printer) { p.PluginList(all) })
		})
	})
	return cmd
}
