package main

import (
	"github.com/spf13/cobra"
	"github.com/switchyard-dev/switchyard/internal/cli"
)

// compatGroup is the id of the group of nubos-pilot's verbs.
const compatGroup = "compat"

// commandGroups returns the groups of commands in the program's help, with their names.
// Commands without a group come last.
func commandGroups() []cli.Group {
	return []cli.Group{
		{ID: "everyday", Title: "Daily commands:", Commands: []string{"demo", "init", "doctor", "run", "route", "round", "status", "findings", "answer", "resume"}},
		{ID: "back", Title: "Decisions and counters:", Commands: []string{"explain", "evaluate", "gate", "ledger", "stats", "metrics"}},
		{ID: "rules", Title: "Policy and plugins:", Commands: []string{"policy", "plugin"}},
		{ID: "single", Title: "Single steps of a round:", Commands: []string{"phase", "audit", "spawn"}},
		{ID: "clients", Title: "For other programs:", Commands: []string{"hook", "mcp"}},
		{ID: compatGroup, Title: "For scripts written for nubos-pilot:", Commands: []string{"loop-run-round", "loop-audit-tool-use", "loop-metrics", "loop-stuck", "spawn-headless"}},
	}
}

// exitStatusOf returns the end of a command's help.
func exitStatusOf(cmd *cobra.Command) string {
	switch cmd.CommandPath() {
	case "switchyard run":
		return runStatus
	case "switchyard gate":
		return gateStatus
	case "switchyard hook stop":
		return hookStopStatus
	case "switchyard spawn-headless":
		return spawnHeadlessStatus
	}
	if cmd.Flags().Lookup("exit-code") != nil {
		return decisionStatus
	}
	return cli.ExitStatus
}
