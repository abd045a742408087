package cli

import "github.com/spf13/cobra"

// TaskOrFile accepts the arguments of a command that runs one task, with --prompt or
// --prompt-file, or the tasks of a file, "" for none.
func TaskOrFile(cmd *cobra.Command, args []string, file string) error {
	flags := cmd.Flags()
	if file == "" {
		if err := CheckExclusive(flags, "prompt", "prompt-file"); err != nil {
			return err
		}
		if len(args) == 0 {
			return Usagef("name a TASK, or with --tasks a file of tasks")
		}
		return OneTask(cmd, args)
	}
	if names := Given(flags, "prompt", "prompt-file"); len(names) > 0 {
		return Usagef("%s is about one task: %s has the texts of its tasks", names[0], file)
	}
	if len(args) > 0 {
		return Usagef("--tasks names the tasks in its file: leave %s out", args[0])
	}
	return nil
}
