package main

import (
	"cmp"
	"context"
	"strings"

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
			all, err := e.Plugins(ctx)
			if err != nil {
				return err
			}
			if !all.OK {
				a.exit = exitFault
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
		from := cell{cmp.Or(pl.Path, "built-in"), plain}
		if pl.Path == "" {
			from.color = dim
		}
		if pl.Use != "" {
			from = cell{"use: " + pl.Use, plain}
		}
		state := cell{"ok", green}
		if pl.Problem != nil {
			state = cell{"broken", red}
		}
		rows[i] = []cell{
			{cmp.Or(pl.Name, "-"), plain}, {cmp.Or(pl.Version, "-"), plain}, state, from, {cmp.Or(shortDigest(pl.Digest), "-"), dim},
			{cmp.Or(strings.Join(pl.Description.Formats, ", "), "-"), plain},
		}
	}
	p.table([]string{"NAME", "VERSION", "STATE", "FROM", "DIGEST", "FORMATS"}, rows)
	for _, pl := range all.Plugins {
		if pl.Problem != nil {
			p.line("%s: %s [%s]", p.paint(red, "broken"), pl.Problem.Message, pl.Problem.Code)
		}
	}
}
