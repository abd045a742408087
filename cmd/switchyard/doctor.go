package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

func newDoctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is there that the commands rely on",
		Long: `Doctor checks the configuration and the ledger, finds the program of each adapter,
asks it for its version and holds its help against the flags that the adapter
uses, and lists the agents. It changes nothing.

The exit status is 1 where something is broken that the project uses: an adapter
that no setting names may be missing.`,
		Example: `  switchyard doctor
  switchyard doctor --output json`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			done := a.waiting("asking the agents' programs")
			health, err := e.Diagnose(ctx)
			done()
			if err != nil {
				return err
			}
			if !health.OK {
				a.exit = exitFault
			}
			return a.print(health, func(p *page) { p.health(health) })
		})
	})
	return cmd
}

func (p *page) health(h host.Health) {
	for _, c := range h.Checks {
		mark := p.paint(green, "ok")
		if !c.OK {
			mark = p.paint(red, "broken")
		}
		p.line("%s  %s: %s", mark, c.Name, c.Text)
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
