package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewHelpCmd replaces cobra's help command, which succeeds for a command that does not
// exist.
func NewHelpCmd() *cobra.Command {
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
			return Usage(UnknownCommand(about, rest))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
	return cmd
}

// ShowHelp runs a command that only groups others.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// NewGroup makes cmd a command that only groups others.
func NewGroup(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = UnknownCommand, ShowHelp
	cmd.AddCommand(commands...)
	return cmd
}

// Group is a group of commands in a program's help.
type Group struct {
	ID, Title string
	Commands  []string
}

// maxUsage is the width of the flags' descriptions, in columns.
const maxUsage = 96

// LayOutHelp groups the commands, and appends to the help of each the text that status
// returns. Commands without a group come last.
func LayOutHelp(root *cobra.Command, groups []Group, status func(*cobra.Command) string) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.Commands, cmd.Name()) {
				cmd.GroupID = g.ID
			}
		}
	}
	root.SetUsageFunc(usage)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		about := strings.TrimRight(cmp.Or(cmd.Long, cmd.Short), " \n")
		_, _ = io.WriteString(cmd.OutOrStdout(), about+"\n\n"+cmd.UsageString()+status(cmd))
	})
}

// usage writes cobra's own usage with our width and title. It is not a template, because a
// program that can run one keeps all methods of all its types (ADR-0029).
func usage(cmd *cobra.Command) error {
	var text strings.Builder
	out := cmd.OutOrStderr()
	cmd.SetOut(&text)
	err := new(cobra.Command).UsageFunc()(cmd)
	cmd.SetOut(out)
	wrapped := text.String()
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		if narrow := strings.TrimRight(flags.FlagUsages(), " \n"); narrow != "" {
			wrapped = strings.Replace(wrapped, narrow, strings.TrimRight(flags.FlagUsagesWrapped(maxUsage), " \n"), 1)
		}
	}
	_, _ = io.WriteString(out, strings.Replace(wrapped, "\nAdditional Commands:\n", "\nOther commands:\n", 1))
	return err
}

// EachCommand calls f for a command and all commands below it.
func EachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		EachCommand(below, f)
	}
}

// plainUsages removes the back-quotes from the descriptions of all flags. They mark the
// value's name for the help, but cobra's completion prints them literally.
func plainUsages(root *cobra.Command) {
	EachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	})
}
