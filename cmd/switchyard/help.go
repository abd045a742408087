package main

import (
	"github.com/spf13/cobra"
)

// newHelpCmd replaces cobra's own, which takes a command that does not exist
// for a success.
func newHelpCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does and takes",
		Args:  cobra.ArbitraryArgs,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return usagef("there is no command %q to help with", args[len(args)-1])
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
	return cmd
}

// showHelp is the body of a command that only holds others.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
