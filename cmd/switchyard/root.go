package main

import (
	"github.com/spf13/cobra"
)

func newRootCmd(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "switchyard",
		Short: "Decide where a review loop goes next",
		Long: `Switchyard decides what follows a critic's run: commit, back to the executor,
ask a researcher, ask the user, ask the plan checker, or stop as stuck.

It normalises the critic's report in a sandboxed WebAssembly plugin, merges the
findings, routes them by a versioned policy, and records why in a ledger.`,
		Example: `  switchyard route --report report.json
  switchyard round TASK-1 --report report.json --report lint.sarif
  switchyard explain TASK-1`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return a.printVersion()
			}
			return showHelp(cmd, args)
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.parsed = true
			if isShort(cmd) {
				deferGC()
			}
		},
	}
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", ".", "work on the project of `DIR`")
	a.output = outputText
	choiceVar(root.PersistentFlags(), &a.output, "output", "print `FORMAT`: text or json", outputText, outputJSON)
	root.Flags().BoolVar(&version, "version", false, "show the version")
	root.SetHelpCommand(newHelpCmd(a))
	root.AddCommand(
		newInitCmd(a),
		newRouteCmd(a),
		newRoundCmd(a),
		newPhaseCmd(a),
		newAuditCmd(a),
		newAnswerCmd(a),
		newResumeCmd(a),
		newSpawnCmd(a),
		newDoctorCmd(a),
		newStatusCmd(a),
		newExplainCmd(a),
		newPolicyCmd(a),
		newPluginCmd(a),
		newLedgerCmd(a),
		newMetricsCmd(a),
		newStatsCmd(a),
		newVersionCmd(a),
	)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = knownShell, showHelp
	}
	addCompatCmds(root, a)
	a.complete(root)
	layOutHelp(root)
	return root
}
