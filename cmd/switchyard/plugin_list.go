package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func newPluginListCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be used by name",
		Long: `List shows the built-in plugins and those of the project: the origin of each, and
the formats that it reads; and the named configurations, with the plugin that each
uses. With --output json it shows the whole digest and description.

The exit status is 1 if one of them cannot be used, such as a file that differs
from switchyard.lock. The others are listed anyway.`,
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
			var failure error
			if !all.OK {
				failure = errs.New(errs.Unhealthy, "broken: %s", strings.Join(brokenPlugins(all), ", "))
			}
			return showCheck(a, all, (*render.Printer).PluginList, failure)
		})
	})
	return cmd
}

// brokenPlugins returns the names of the plugins that cannot be used.
func brokenPlugins(all api.PluginInventory) []string {
	var names []string
	for _, p := range all.Plugins {
		if p.Problem != nil {
			names = append(names, cmp.Or(p.Path, p.Use, p.Name))
		}
	}
	return names
}
