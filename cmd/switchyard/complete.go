package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// complete has a shell complete the ids of tasks for every command below root that
// takes one, and the values of flags that are names or one of a few words.
func (a *app) complete(root *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"output":  words("text", "json"),
		"verify":  words(string(policies.Green), string(policies.Red), string(policies.Absent)),
		"lang":    words("go", "assemblyscript", "c"),
		"engine":  words(string(policies.EngineRego), string(policies.EngineWasm)),
		"adapter": a.names(func(ctx context.Context, e *host.Engine) ([]string, error) { return e.AdapterNames(ctx) }),
		"agent":   a.names(func(_ context.Context, e *host.Engine) ([]string, error) { return e.AgentNames(), nil }),
		"plugin":  a.names(pluginNames),
		"policy":  policyRefs,
	}
	eachCommand(root, func(cmd *cobra.Command) {
		if fields := strings.Fields(cmd.Use); len(fields) > 1 && strings.Trim(fields[1], "[]") == "TASK" {
			cmd.ValidArgsFunction = a.taskIDs(taken(cmd))
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if complete, ok := values[f.Name]; ok {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // Those that have their own keep it.
			}
		})
	})
}

// taken are the statuses of tasks that a command can do something with.
func taken(cmd *cobra.Command) []task.Status {
	switch cmd.Name() {
	case "answer":
		return []task.Status{task.Waiting}
	case "resume":
		return []task.Status{task.Stuck}
	case "status", "explain":
		return nil
	default:
		return []task.Status{task.Open}
	}
}

// words completes one of a few words.
func words(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// names completes one of the names that list returns. Nothing is completed if it
// fails: the command itself will say why.
func (a *app) names(list func(context.Context, *host.Engine) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (all []string, _ cobra.ShellCompDirective) {
		_ = a.with(cmd.Context(), func(e *host.Engine) (err error) {
			all, err = list(cmd.Context(), e)
			return err
		})
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func pluginNames(ctx context.Context, e *host.Engine) ([]string, error) {
	all, err := e.Plugins().List(ctx)
	names := []string{api.Auto}
	for _, p := range all.Plugins {
		names = append(names, p.Name)
	}
	return names, err
}

// taskIDs completes the id of a task in one of these statuses, or in any if there are
// none, with its status beside it.
func (a *app) taskIDs(statuses []task.Status) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.names(func(ctx context.Context, e *host.Engine) ([]string, error) {
			tasks, err := e.Tasks(ctx)
			var ids []string
			for _, t := range tasks {
				if strings.HasPrefix(t.TaskID, begun) && (len(statuses) == 0 || slices.Contains(statuses, t.Status)) {
					ids = append(ids, t.TaskID+"\t"+string(t.Status))
				}
			}
			return ids, err
		})(cmd, args, begun)
	}
}

// plainUsages takes the back-quotes from the descriptions of all flags, which mark the
// value's name for the help and which cobra's completion shows as they are.
func plainUsages(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	})
}
