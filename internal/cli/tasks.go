package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// RunTask returns the request for a task of a tasks file. The values of its entry replace
// the values of the flags.
func RunTask(t project.Task, flags api.RunRequest) api.RunTask {
	req := flags
	req.Prompt, req.Budget = t.Prompt, t.Budget
	req.Base, req.Verify = cmp.Or(t.Base, req.Base), cmp.Or(t.Verify, req.Verify)
	return api.RunTask{ID: t.ID, DependsOn: t.DependsOn, RunRequest: req}
}

// TaskOrFile checks the arguments of a command that runs one task, with --prompt or
// --prompt-file, or the tasks of file, if it is not "".
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
		return Usagef("%s is for one task: %s has the texts of its tasks", names[0], file)
	}
	if len(args) > 0 {
		return Usagef("--tasks runs the tasks of its file: leave %s out", args[0])
	}
	return nil
}
