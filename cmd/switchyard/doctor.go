package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func newDoctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, plugins, policy, ledger and agents",
		Long: `Doctor checks the configuration and who owns it, the plugins and their lock, the
policy and the ledger; finds the program of each adapter, asks it for its version
and compares its help with the flags that the adapter uses; and lists the agents.
It changes nothing. With --deep it also verifies every event of the ledger.

It fails if something that the project uses is broken. An adapter that no setting
names may be missing.`,
		Example: `  switchyard doctor
  switchyard doctor --deep --output json`,
		Args: noArgs,
	}
	var deep bool
	cmd.Flags().BoolVar(&deep, "deep", false, "verify the ledger, which takes a while if it is long")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		done := a.waiting("asking the agents' programs")
		health, err := e.Diagnose(ctx, deep)
		done()
		if err != nil {
			return err
		}
		var failure error
		if !health.OK {
			failure = errs.New(errs.Unhealthy, "broken: %s", strings.Join(brokenParts(health), ", "))
		}
		return showCheck(a, health, failure, (*render.Printer).Health)
	})
	return cmd
}

// brokenParts returns the names of the broken parts.
func brokenParts(h api.Health) []string {
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
