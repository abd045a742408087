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
	return fmt.Errorf("there is no command %q%s", args[0], didYouMean(nearCommand(cmd, args[0])))
}

// nearCommand is the command below cmd that a word was probably meant to be, or "".
func nearCommand(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return textutil.Nearest(word, names)
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// flagError explains a flag that cmd does not know or cannot read. If cmd only holds
// commands, the error is about a misspelt command instead: about a word that is spelt
// like one, or about the word that follows those of cmd.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %s", invalid.GetFlag().Name, valueProblem(invalid))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if cmd.HasSubCommands() {
		words := wordsOf(cmd, args)
		for _, word := range words {
			if near := nearCommand(cmd, word); near != "" && near != word {
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
	near := textutil.Nearest(name, names)
	if near != "" {
		near = "--" + near
	} else if arg := strings.ToUpper(name); slices.Contains(strings.FieldsFunc(cmd.Use, isNotUpper), arg) {
		return fmt.Errorf("unknown flag: --%s; the %s is an argument: %s", name, arg, cmd.UseLine())
	}
	return fmt.Errorf("unknown flag: --%s%s", name, didYouMean(near))
}

func isNotUpper(r rune) bool { return r < 'A' || r > 'Z' }

// valueProblem says what is wrong with a flag's value.
func valueProblem(invalid *pflag.InvalidValueError) string {
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		return fmt.Sprintf("%q is not a whole number", invalid.GetValue())
	case "bool":
		return fmt.Sprintf("%q is neither true nor false", invalid.GetValue())
	case "duration":
		return fmt.Sprintf("%q is not a duration, such as 90s or 10m", invalid.GetValue())
	default:
		return invalid.Unwrap().Error()
	}
}

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
	var names []string
	for _, shell := range cmd.Commands() {
		names = append(names, shell.Name())
	}
	return fmt.Errorf("there is no completion for %q, only for %s", args[0], strings.Join(names, ", "))
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

// atMostOneTask wants a task's id or nothing.
func atMostOneTask(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return oneTask(cmd, args)
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
