package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// unknownCommand refuses what stands where a command should, and suggests one
// that is spelt alike.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if alike := cmd.SuggestionsFor(args[0]); len(alike) > 0 {
		return fmt.Errorf("there is no command %q; did you mean %s?", args[0], alike[0])
	}
	return fmt.Errorf("there is no command %q", args[0])
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

// exactly wants one argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
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
