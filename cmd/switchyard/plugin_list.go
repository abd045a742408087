package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/project"
)

func newPluginListCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be used by name",
		Long: `List shows the built-in plugins and those that the project brings along: where
each comes from, and the formats that it reads. With --output json it shows the
whole digest, and all that a plugin says of itself.

Settings in switchyard.yaml for a name that none of them has do nothing, unless
a plugin of that name is given by its file. They are pointed out.`,
		Example: `  switchyard plugin list
  switchyard plugin list --output json | jq -r '.plugins[].name'`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			all, err := e.Plugins(ctx)
			if err != nil {
				return err
			}
			return a.print(all, func(p *page) { p.inventory(all) })
		})
	})
	return cmd
}

// inventory shows the installed plugins.
func (p *page) inventory(all host.Inventory) {
	rows := make([][]cell, len(all.Plugins))
	for i, pl := range all.Plugins {
		from := cell{pl.Path, plain}
		if pl.Path == "" {
			from = cell{"built-in", dim}
		}
		rows[i] = []cell{
			{pl.Name, plain}, {pl.Version, plain}, from, {shortDigest(pl.Digest), dim},
			{strings.Join(pl.Description.Formats, ", "), plain},
		}
	}
	p.table([]string{"NAME", "VERSION", "FROM", "DIGEST", "FORMATS"}, rows)
	if len(all.UnknownSettings) > 0 {
		p.line("")
	}
	for _, name := range all.UnknownSettings {
		p.line("note: %s has settings for %s, and no installed plugin is called that", project.ConfigFile, name)
	}
}
