package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyNewCmd(a *app) *cobra.Command {
	var tree treeFlags
	var o release.NewOptions
	var steps stepFlags
	cmd := &cobra.Command{
		Use:   `new --adr "TITLE"`,
		Short: "Start the next version, with its tests and its decision record",
		Long: `New copies a version's Rego and its tests to a folder for the next one, below
policies/routing, and starts the decision record that argues for the amendment,
in docs/adr. Where there is none yet, it makes policies/versions.lock, with the
versions that are built in. It replaces nothing: it makes all of it, or none.

The next version is a minor one, unless --major or --patch says otherwise: what
an amendment needs, policy diff tells. While a version is a draft, no other one
is started.

It prints what is to be done next; Switchyard's docs/amending.md walks through
it.`,
		Example: `  switchyard policy new --adr "Accessibility findings go to the executor"
  switchyard policy new --from routing@1.1.0 --major --adr "Ask the planner first"`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.From, "from", "", "start from `VERSION`, as "+policies.Default+" or 1.2.0 (default the newest)")
	flags.StringVar(&o.Title, "adr", "", "the decision record is called `TITLE`")
	steps.register(flags)
	tree.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if o.Title == "" {
			return usagef("--adr is missing: the title of the decision record")
		}
		if flags.Changed("from") && o.From == "" {
			return usagef("--from is empty")
		}
		var err error
		if o.Step, err = steps.step(); err != nil {
			return err
		}
		at, err := a.inTree(tree, flags, "")
		if err != nil {
			return err
		}
		o.From = asVersion(o.From)
		return a.with(ctx, func(e *host.Engine) error {
			created, err := e.Policies().Workspace(at.versions, at.records).New(ctx, o)
			if err != nil {
				return err
			}
			return a.print(created, func(p *render.Printer) { p.NewVersion(created) })
		})
	})
	return cmd
}

// stepFlags say how large a step in the version the next one is.
type stepFlags struct{ major, minor, patch bool }

func (f *stepFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.major, "major", false, "the next major version: something goes elsewhere than before")
	flags.BoolVar(&f.minor, "minor", false, "the next minor version: something is new, or is decided more strictly (the default)")
	flags.BoolVar(&f.patch, "patch", false, "the next patch: nothing changes in meaning")
}

func (f *stepFlags) step() (diff.Step, error) {
	switch *f {
	case stepFlags{}, stepFlags{minor: true}:
		return diff.Minor, nil
	case stepFlags{major: true}:
		return diff.Major, nil
	case stepFlags{patch: true}:
		return diff.None, nil
	}
	return "", usagef("--major, --minor and --patch exclude each other")
}
