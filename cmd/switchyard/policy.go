package main

import (
	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Look at, amend and prove the rules that decide",
		Long: `A policy decides where a task goes after a round. It is Rego, in the package
switchyard.routing, and has four rules:

  destinations  each with its kind, agent, human or terminal, and whether it
                advances the round
  route_table   the destination of each category of finding
  precedence    the destinations that take findings, strongest first
  decision      next_action and reason, from the input

The input has counts, and not a word of what a critic wrote: switchyard explain
--output json shows one.

Where a command takes a POLICY, that is
  a version that is built in, as ` + policies.Default + `
  a directory with its Rego files, as policies/routing/1.3.0
  an OPA bundle: a .tar.gz that policy build or OPA's own tools made
and where it is left out, the policy that the project goes by: the one that
switchyard.yaml names, else the one that was adopted, else the default.

A released version never changes: its digest stands in policies/versions.lock.
An amendment is a new version, in a folder of its own below policies/routing,
together with the decision record that argues for it, in docs/adr:

  new      starts the version and its record from the version before
  test     runs its Rego tests and measures what they reach
  verify   proves it over everything that it can be asked
  diff     says what it changes in meaning
  replay   decides every recorded round again by it
  lint     holds all versions and records against the rules for them
  release  writes what was proven into the record, and locks the version
  build    packs it into an OPA bundle, signed if you like
  adopt    makes the project go by it

A minor version adds categories, or decides more strictly; a re-route or another
precedence is a major one. Switchyard's docs/amending.md walks through an
amendment.

A project with keys under policy_trust in switchyard.yaml takes a policy that is
not built in only from a bundle that one of them signed. --allow-unsigned lets
its authors look at one without a signature; it decides nothing.`,
		Example: `  switchyard policy list
  switchyard policy show
  switchyard policy new --adr "Accessibility findings go to the executor"
  switchyard policy verify policies/routing/1.3.0`,
		Args: unknownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(
		newPolicyListCmd(a),
		newPolicyShowCmd(a),
		newPolicyTestCmd(a),
		newPolicyVerifyCmd(a),
		newPolicyDiffCmd(a),
		newPolicyReplayCmd(a),
		newPolicyLintCmd(a),
		newPolicyNewCmd(a),
		newPolicyReleaseCmd(a),
		newPolicyBuildCmd(a),
		newPolicyAdoptCmd(a),
	)
	return cmd
}

// atMostOnePolicy wants a policy or nothing.
func atMostOnePolicy(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exactly("the POLICY")(cmd, args)
}

// policyArg is the policy that the arguments name, "" for the project's.
func policyArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// policyRefs completes built-in versions beside the names of files.
func policyRefs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return policies.Versions(), cobra.ShellCompDirectiveDefault
}

// allowUnsignedFlag adds --allow-unsigned to a command that decides nothing.
func allowUnsignedFlag(flags *pflag.FlagSet, allow *bool) {
	flags.BoolVar(allow, "allow-unsigned", false, "take a policy without a good signature, although the project has keys")
}

// after prints the text of a result that is a fault, and returns the fault. As JSON
// the fault's details have all of it, and nothing is printed beside them.
func (a *app) after(text func(*render.Printer), f error) error {
	if a.output == outputJSON {
		return f
	}
	if err := a.print(nil, text); err != nil {
		return err
	}
	return f
}
