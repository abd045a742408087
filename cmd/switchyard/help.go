package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// newHelpCmd replaces cobra's help command, which succeeds for a command that does not
// exist.
func newHelpCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, below := range about.Commands() {
				if !below.Hidden {
					names = append(names, below.Name()+"\t"+below.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return usage(unknownCommand(about, rest))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
	return cmd
}

// showHelp runs a command that only groups others.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// compatGroup is the id of the group of nubos-pilot's verbs.
const compatGroup = "compat"

// commandGroups returns the groups of commands in the program's help, with their names.
// Commands without a group come last.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"everyday", "Daily commands:", []string{"init", "doctor", "run", "route", "round", "status", "answer", "resume"}},
		{"back", "Decisions and counters:", []string{"explain", "ledger", "stats", "metrics"}},
		{"rules", "Policy and plugins:", []string{"policy", "plugin"}},
		{"single", "Single steps of a round:", []string{"phase", "audit", "spawn"}},
		{compatGroup, "For scripts written for nubos-pilot:", []string{"loop-run-round", "loop-audit-tool-use", "loop-metrics", "loop-stuck", "spawn-headless"}},
	}
}

type commandGroup struct {
	id, title string
	commands  []string
}

// maxUsage is the width of the flags' descriptions, in columns.
const maxUsage = 96

// layOutHelp groups the commands and appends the exit status to each one's help.
func layOutHelp(root *cobra.Command) {
	for _, g := range commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.commands, cmd.Name()) {
				cmd.GroupID = g.id
			}
		}
	}
	root.SetUsageTemplate(strings.NewReplacer(
		"Flags.FlagUsages", "Flags.FlagUsagesWrapped "+strconv.Itoa(maxUsage),
		"Additional Commands:", "Other commands:",
	).Replace(root.UsageTemplate()))
	help := strings.TrimRight(root.HelpTemplate(), "\n")
	eachCommand(root, func(cmd *cobra.Command) { cmd.SetHelpTemplate(help + exitStatusOf(cmd)) })
}

// exitStatusOf returns the end of a command's help.
func exitStatusOf(cmd *cobra.Command) string {
	if cmd.Name() == "run" && !cmd.Parent().HasParent() {
		return runStatus
	}
	if cmd.Flags().Lookup("exit-code") != nil && cmd.Name() != "diff" {
		return decisionStatus
	}
	return exitStatus
}

// eachCommand calls f for a command and all commands below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, f)
	}
}
