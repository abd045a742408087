package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// unknownCommand returns the error for a command that does not exist, with a suggestion
// if one is spelt alike.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no command %q%s", args[0], textutil.DidYouMean(args[0], commandNames(cmd)))
}

// commandNames returns the names of the commands below cmd.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// flagError explains a flag that cmd does not know or cannot parse. If cmd only groups
// commands and its arguments contain a misspelt command, or do not start with a known
// one, the error is about that command instead.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if breaksRule(err) && slices.Contains(args, "--help") {
			return pflag.ErrHelp
		}
		return valueProblem(invalid)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if cmd.HasSubCommands() {
		words := wordsOf(cmd, args)
		for _, word := range words {
			if near := textutil.Nearest(word, commandNames(cmd)); near != "" && near != word {
				return unknownCommand(cmd, []string{word})
			}
		}
		if depth := strings.Count(cmd.CommandPath(), " "); len(words) > 0 && words[0] == args[depth] {
			return unknownCommand(cmd, words)
		}
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		if cmd == cmd.Root() && strings.EqualFold(name, "v") {
			return fmt.Errorf("unknown flag: -%s; did you mean --version?", name)
		}
		return fmt.Errorf("unknown flag: -%s", name)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := textutil.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown flag: --%s; did you mean --%s?", name, near)
	}
	if arg := strings.ToUpper(name); slices.Contains(strings.FieldsFunc(cmd.Use, isNotUpper), arg) {
		return fmt.Errorf("unknown flag: --%s; the %s is an argument: %s", name, arg, cmd.UseLine())
	}
	return fmt.Errorf("unknown flag: --%s", name)
}

func isNotUpper(r rune) bool { return r < 'A' || r > 'Z' }

// wordsOf returns the arguments after cmd that are neither flags nor values of flags.
func wordsOf(cmd *cobra.Command, args []string) []string {
	var words []string
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		switch {
		case args[i] == "--":
			return words
		case isFlag:
			name = strings.TrimPrefix(name, "-")
			f := cmd.Flags().Lookup(name)
			if f == nil && len(name) == 1 {
				f = cmd.Flags().ShorthandLookup(name)
			}
			if f != nil && f.NoOptDefVal == "" {
				i++
			}
		default:
			words = append(words, args[i])
		}
	}
	return words[min(len(words), strings.Count(cmd.CommandPath(), " ")):]
}

// noArgs rejects any argument, and names it.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// reportsAsFlags is noArgs for commands whose users are likely to pass a report as an
// argument; the error names the flag to use.
func reportsAsFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q; a report is given by --report %s", args[0], args[0])
	}
	return nil
}

// oneTask requires the id of one task.
func oneTask(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return fmt.Errorf("the id of a TASK is missing")
	case 1:
		return nil
	default:
		return fmt.Errorf("unexpected argument %q behind the task's id", args[1])
	}
}

// knownShell rejects a shell without completion.
func knownShell(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no completion for %q, only for %s", args[0], strings.Join(commandNames(cmd), ", "))
}

// exactly requires one non-empty argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing: %s", names[len(args)], cmd.UseLine())
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q behind %s", args[len(names)], names[len(names)-1])
		}
		for i, arg := range args {
			if arg == "" {
				return fmt.Errorf("%s is empty", names[i])
			}
		}
		return nil
	}
}

// orNothing accepts no arguments, or the arguments that want accepts.
func orNothing(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return want(cmd, args)
	}
}

// firstArg returns the first argument, or "" if there is none.
func firstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// splitList splits a list at its commas and drops empty items.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
