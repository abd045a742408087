package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// UnknownCommand returns the error for a command that does not exist, with a suggestion
// if one is spelt alike.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no command %q%s", args[0], textutil.DidYouMean(args[0], commandNames(cmd)))
}

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
				return UnknownCommand(cmd, []string{word})
			}
		}
		if depth := strings.Count(cmd.CommandPath(), " "); len(words) > 0 && words[0] == args[depth] {
			return UnknownCommand(cmd, words)
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
	isNotUpper := func(r rune) bool { return r < 'A' || r > 'Z' }
	if arg := strings.ToUpper(name); slices.Contains(strings.FieldsFunc(cmd.Use, isNotUpper), arg) {
		return fmt.Errorf("unknown flag: --%s; the %s is an argument: %s", name, arg, cmd.UseLine())
	}
	return fmt.Errorf("unknown flag: --%s", name)
}

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

// NoArgs rejects any argument, and names it.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// OneTask requires the id of one task.
func OneTask(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("the id of a TASK is missing")
	case 1:
		return nil
	default:
		return fmt.Errorf("unexpected argument %q after the task's id", args[1])
	}
}

// KnownShell rejects a shell without completion.
func KnownShell(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no completion for %q, only for %s", args[0], strings.Join(commandNames(cmd), ", "))
}

// Exactly requires one non-empty argument for each name.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing: %s", names[len(args)], cmd.UseLine())
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q after %s", args[len(names)], names[len(names)-1])
		}
		for i, arg := range args {
			if arg == "" {
				return fmt.Errorf("%s is empty", names[i])
			}
		}
		return nil
	}
}

// OrNothing accepts no arguments, or the arguments that want accepts.
func OrNothing(want cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return want(cmd, args)
	}
}

// FirstArg returns the first argument, or "".
func FirstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
