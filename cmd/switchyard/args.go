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

// unknownCommand refuses what stands where a command should, and suggests one
// that is spelt alike.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no command %q%s", args[0], textutil.DidYouMean(args[0], commandNames(cmd)))
}

// commandNames are the names of the commands below cmd.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// flagError explains a flag that cmd does not know or cannot read. If cmd only holds
// commands, the error is about a misspelt command instead: about a word that is spelt
// like one, or about the word that follows those of cmd.
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

// wordsOf are the words of a command line behind those of cmd that neither are flags
// nor follow one that takes a value.
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

// noArgs refuses arguments with a sentence that says what was not expected.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// reportsAsFlags is noArgs for a command whose reports are easily taken for
// arguments.
func reportsAsFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q; a report is given by --report %s", args[0], args[0])
	}
	return nil
}

// oneTask wants a task's id and nothing else.
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

// knownShell refuses a shell that there is no completion for.
func knownShell(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no completion for %q, only for %s", args[0], strings.Join(commandNames(cmd), ", "))
}

// exactly wants one argument for each name.
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

// orNothing accepts no arguments, and else those that want accepts.
func orNothing(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return want(cmd, args)
	}
}

// firstArg is the first argument, "" for none.
func firstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// splitList splits a list at its commas.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
