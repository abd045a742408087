package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "policy",
		Short: "Inspect, change and check the routing policy",
		Long: `A policy decides where a task goes after a round. It is written in Rego;
docs/policies.md has its rules. Its input has only counts, and no text of a critic.

A POLICY argument is one of
  a built-in version, such as ` + policies.Default + `
  a directory with Rego files, such as policies/routing/1.4.0
  an OPA bundle: a .tar.gz made by policy build or by OPA's own tools
Without it the active policy is used: the one that switchyard.yaml names, else
the one that was adopted, else the default.

A released version never changes. An amendment is a new version, in its own directory
below policies/routing, with the decision record that argues for it in docs/adr:
new, test, verify, diff, replay, lint, release and adopt are its steps.
docs/amending.md walks through them.

A project with keys under policy_trust in switchyard.yaml accepts a policy that is
not built in only from a bundle that one of them signed. With --allow-unsigned its
authors can inspect one without a signature; it decides nothing.`,
		Example: `  switchyard policy list
  switchyard policy show
  switchyard policy new --adr "Accessibility findings go to the executor"
  switchyard policy verify policies/routing/1.4.0`,
	},
		newPolicyListCmd(a),
		newPolicyShowCmd(a),
		newPolicyTestCmd(a),
		newPolicyVerifyCmd(a),
		newPolicyDiffCmd(a),
		newPolicyReplayCmd(a),
		newPolicyBenchCmd(a),
		newPolicyLintCmd(a),
		newPolicyNewCmd(a),
		newPolicyReleaseCmd(a),
		newPolicyBuildCmd(a),
		newPolicyAdoptCmd(a),
	)
}

func onePolicy() cobra.PositionalArgs { return cli.OrNothing(cli.Exactly("the POLICY")) }

// allowUnsignedVar adds --allow-unsigned to a command that does not decide rounds.
func allowUnsignedVar(flags *pflag.FlagSet, allow *bool) {
	flags.BoolVar(allow, "allow-unsigned", false, "accept a policy without a valid signature, although the project has keys")
}

func newPolicyListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the versions of the policy, and which one is in use",
		Long: `List shows the versions that are built in or in the project's directory
policies/routing, oldest first, with their decision records. A version is
  released  its digest is that of policies/versions.lock, or it is built in
  draft     it is not in the lock yet
  edited    its digest differs from the lock: a released version was changed

After them come the policy that switchyard.yaml names and the adopted policy, if
they are not among them. A policy that cannot be loaded is listed with the reason.`,
		Example: `  switchyard policy list
  switchyard policy list --output json | jq -r '.policies[] | select(.adopted).ref'`,
		Args: cli.NoArgs,
		RunE: a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
			all, err := e.Policies().Workspace().List(ctx)
			return cli.Show(&a.Program, all, err, (*render.Printer).PolicyList)
		}),
	}
}

func newPolicyShowCmd(a *app) *cobra.Command {
	var rego, allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "show [POLICY]",
		Short: "Show a policy's destinations, table and rules",
		Long: `Show prints a policy: its name, its destinations, strongest first and each with
the categories of findings that are routed to it, and the branches of the rule
decision in the order in which they are tried, with their lines.

--rego prints its Rego files instead. With --output json they are printed byte for
byte.`,
		Example: `  switchyard policy show
  switchyard policy show routing@1.0.0
  switchyard policy show routing@1.2.0 --rego --output json | jq -r '.sources[0].text'`,
		Args: onePolicy(),
	}
	cmd.Flags().BoolVar(&rego, "rego", false, "print the Rego files")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		policy, err := e.Policies().Load(ctx, cli.FirstArg(args), allowUnsigned)
		if err != nil {
			return err
		}
		shown, err := render.NewPolicyView(ctx, policy)
		text := (*render.Printer).Policy
		if rego {
			shown.Sources, text = policy.Sources(), (*render.Printer).Rego
		}
		return cli.Show(&a.Program, shown, err, text)
	})
	return cmd
}

func newPolicyAdoptCmd(a *app) *cobra.Command {
	var req api.AdoptRequest
	cmd := &cobra.Command{
		Use:   "adopt [POLICY]",
		Short: "Adopt a policy",
		Long: `Adopt records that a policy is the active one from now on: POLICY, or the one that
switchyard.yaml names, or the default. It shows the changes.

A project's first round without --policy adopts the policy that decides it. If
switchyard.yaml names another policy later, or its files change, the next round fails
with policy-changed until the change is adopted. docs/policies.md explains it.

A project with keys for policies (policy_trust in switchyard.yaml) refuses a policy
that is older than the adopted one unless --allow-rollback is given.`,
		Example: `  switchyard policy adopt --dry-run
  switchyard policy adopt
  switchyard policy adopt routing@1.1.0`,
		Args: onePolicy(),
	}
	cmd.Flags().BoolVar(&req.AllowRollback, "allow-rollback", false, "accept a policy that is older than the adopted one")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "only show what would change")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		req.Policy = cli.FirstArg(args)
		adoption, err := e.Policies().Adopt(ctx, req)
		return cli.Show(&a.Program, adoption, err, func(p *render.Printer, adoption api.Adoption) { p.Adoption(adoption, req.DryRun) })
	})
	return cmd
}

// asVersion returns the version in routing@1.3.0 or 1.3.0; "" remains "".
func asVersion(text string) string {
	if text == "" || strings.Contains(text, "@") {
		return text
	}
	return "routing@" + text
}
