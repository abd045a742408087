package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func newDoctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that the commands rely on",
		Long: `Doctor checks the configuration and who owns it, the plugins and their lock, the
policy and the ledger; finds the program of each adapter, asks it for its version
and compares its help with the flags that the adapter uses; and lists the agents.
It changes nothing. With --deep it also verifies every event of the ledger.

It fails if something is broken that the project uses. An adapter that no setting
names may be missing.`,
		Example: `  switchyard doctor
  switchyard doctor --deep --output json`,
		Args: noArgs,
	}
	var deep bool
	cmd.Flags().BoolVar(&deep, "deep", false, "verify the ledger, which takes a while if it is long")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("asking the agents' programs")
			health, err := e.Diagnose(ctx, deep)
			done()
			if err != nil {
				return err
			}
			if err := a.print(health, func(p *page) { p.health(health) }); err != nil || health.OK {
				return err
			}
			return errs.New(errs.Unhealthy, "broken: %s", strings.Join(brokenParts(health), ", "))
		})
	})
	return cmd
}

// brokenParts names what is broken.
func brokenParts(h host.Health) []string {
	var all []string
	for _, c := range h.Checks {
		if !c.OK && !slices.Contains(all, c.Name) {
			all = append(all, c.Name)
		}
	}
	for _, ad := range h.Adapters {
		if ad.Used && !ad.OK {
			all = append(all, ad.Name)
		}
	}
	for _, ag := range h.Agents {
		if ag.Broken {
			all = append(all, ag.Name)
		}
	}
	return all
}

func (p *page) health(h host.Health) {
	for _, c := range h.Checks {
		mark := p.paint(green, "ok")
		if !c.OK {
			mark = p.paint(red, "broken")
		}
		text := c.Text
		if c.Code != "" {
			text += " [" + string(c.Code) + "]"
		}
		p.line("%s  %s: %s", mark, c.Name, text)
		for _, problem := range c.Problems {
			p.line("  %s", problem)
		}
	}
	p.line("")
	rows := make([][]cell, len(h.Adapters))
	for i, ad := range h.Adapters {
		state, color := "ok", green
		switch {
		case !ad.OK && ad.Used:
			state, color = "broken", red
		case !ad.OK:
			state, color = "unused", dim
		case !ad.KnownVersion:
			state, color = "untested", yellow
		}
		rows[i] = []cell{
			{ad.Name, plain}, {state, color}, {cmp.Or(ad.Version, "-"), plain}, {cmp.Or(strings.Join(ad.Tested, ", "), "-"), dim},
			{cmp.Or(ad.Problem, ad.Binary), plain},
		}
	}
	p.table([]string{"ADAPTER", "STATE", "VERSION", "TESTED", "PROGRAM"}, rows)
	p.line("")
	rows = rows[:0]
	for _, ag := range h.Agents {
		kind := "agent"
		if ag.Module {
			kind = "module"
		}
		problem := cell{"", plain}
		if ag.Problem != "" {
			problem = cell{ag.Problem, yellow}
		}
		rows = append(rows, []cell{{ag.Name, plain}, {kind, plain}, {cmp.Or(ag.Path, "built in"), dim}, problem})
	}
	p.table([]string{"AGENT", "KIND", "DEFINED IN", "PROBLEM"}, rows)
}
