package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Inspect, change and check the routing policy",
		Long: `A policy decides where a task goes after a round. It is written in Rego, in the
package switchyard.routing, and has four rules:

  destinations  each with its kind, agent, human or terminal, and whether it
                advances the round
  route_table   the destination of each category of finding
  precedence    the destinations that take findings, strongest first
  decision      next_action and reason, from the input

The input has only counts, and no text of a critic: switchyard explain --output
json shows one.

A POLICY argument is one of
  a built-in version, such as ` + policies.Default + `
  a directory with Rego files, such as policies/routing/1.3.0
  an OPA bundle: a .tar.gz made by policy build or by OPA's own tools
Without it the active policy is used: the one that switchyard.yaml names, else
the one that was adopted, else the default.

A released version never changes: policies/versions.lock has its digest. An
amendment is a new version, in a folder of its own below policies/routing,
together with the decision record that argues for it, in docs/adr:

  new      starts the version and its record from the version before
  test     runs its Rego tests and measures their coverage
  verify   checks it exhaustively over all input classes
  diff     shows what it changes in meaning
  replay   decides every recorded round again with it
  lint     checks all versions and decision records against the rules
  release  writes the results into the record, and locks the version
  build    packs it into an OPA bundle, optionally signed
  adopt    makes it the active policy

A minor version adds categories or decides more strictly; a re-route or another
precedence needs a major version. Switchyard's docs/amending.md walks through an
amendment.

A project with keys under policy_trust in switchyard.yaml accepts a policy that is
not built in only from a bundle that one of them signed. With --allow-unsigned its
authors can inspect one without a signature; it decides nothing.`,
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

// onePolicy accepts at most one policy.
func onePolicy() cobra.PositionalArgs { return orNothing(exactly("the POLICY")) }

// allowUnsignedVar adds --allow-unsigned to a command that does not decide rounds.
func allowUnsignedVar(flags *pflag.FlagSet, allow *bool) {
	flags.BoolVar(allow, "allow-unsigned", false, "accept a policy without a valid signature, although the project has keys")
}
