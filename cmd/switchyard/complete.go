package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

// completeTasks has a shell complete the ids of tasks for every command below root
// that takes one, and the words of flags that have few.
func (a *app) completeTasks(root *cobra.Command) {
	_ = root.RegisterFlagCompletionFunc("output", words("text", "json"))
	for _, cmd := range root.Commands() {
		if strings.Contains(cmd.Use, "TASK") {
			cmd.ValidArgsFunction = a.taskIDs
		}
		if cmd.Flags().Lookup("verify") != nil {
			_ = cmd.RegisterFlagCompletionFunc("verify", words("green", "red", "absent"))
		}
		if cmd.HasSubCommands() {
			a.completeTasks(cmd)
		}
	}
}

// words completes one of a few words.
func words(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// taskIDs completes the id of a task, with its status beside it. Nothing is
// completed where the ledger cannot be read: the command itself will say why.
func (a *app) taskIDs(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = a.with(cmd.Context(), func(e *host.Engine) error {
		tasks, err := e.Tasks(cmd.Context())
		for _, t := range tasks {
			if strings.HasPrefix(t.TaskID, begun) {
				ids = append(ids, t.TaskID+"\t"+string(t.Status))
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}
