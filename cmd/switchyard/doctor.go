package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newDoctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, plugins, policy, ledger and agents",
		Long: `Doctor checks the configuration and who owns it, the plugins and their lock, the
policy and the ledger; finds the program of each adapter and compares its help with
the flags that the adapter uses; lists the agents, checks the templates of their
prompts, and checks the requirements of run. It does not change the project.

With --deep it also verifies every event of the ledger. With --probe it runs the
executor's adapter once, which must edit a file in a temporary repository. This
costs as much as the agent charges for it.

It fails if something that the project uses is broken.`,
		Example: `  switchyard doctor
  switchyard doctor --deep --output json
  switchyard doctor --probe`,
		Args: cli.NoArgs,
	}
	var deep, probe bool
	cmd.Flags().BoolVar(&deep, "deep", false, "verify the ledger, which takes a while if it is long")
	cmd.Flags().BoolVar(&probe, "probe", false, "let the executor's adapter edit a file once, which costs money")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		done := a.showWork("asking the agents' programs")
		health, err := e.Diagnose(ctx, deep, probe)
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

func brokenParts(h api.Health) []string {
	var all []string
	for _, c := range h.Checks {
		if !c.OK && !c.Unused && !slices.Contains(all, c.Name) {
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
