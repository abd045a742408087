package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
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
in docs/adr. If policies/versions.lock does not exist, it creates it with the
built-in versions. It replaces no file: it creates all of them, or none.

The next version is a minor one, unless --major or --patch is given; policy diff
shows which step an amendment needs. While one version is a draft, no other one
can be started.

It prints the next steps; Switchyard's docs/amending.md walks through them.`,
		Example: `  switchyard policy new --adr "Accessibility findings go to the executor"
  switchyard policy new --from routing@1.1.0 --major --adr "Ask the planner first"`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	textVar(flags, &o.From, "from", "start from `VERSION`, such as "+policies.Default+" or 1.2.0 (default the latest)")
	textVar(flags, &o.Title, "adr", "the `TITLE` of the decision record")
	steps.register(flags)
	tree.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if err := checkRequired(flags, "adr"); err != nil {
			return usagef("%w: the title of the decision record", err)
		}
		var err error
		if o.Step, err = steps.step(); err != nil {
			return err
		}
		at, err := a.inTree(tree, flags)
		if err != nil {
			return err
		}
		o.From = asVersion(o.From)
		return answer(ctx, a, func(e *host.Engine) (release.Created, error) {
			return e.Policies().Workspace(at.versions, at.records).New(ctx, o)
		}, (*render.Printer).NewVersion)
	})
	return cmd
}

// stepFlags select which part of the version is incremented.
type stepFlags struct{ major, minor, patch bool }

func (f *stepFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.major, "major", false, "the next major version: something is routed differently than before")
	flags.BoolVar(&f.minor, "minor", false, "the next minor version: something is new or decided more strictly (the default)")
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
