package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// complete registers shell completions for task ids and policies in arguments, and for flags
// with names or one of a few words as values.
func (a *app) complete(root *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"adapter": a.names(func(ctx context.Context, e *host.Engine) ([]string, error) { return e.AdapterNames(ctx) }),
		"agent":   a.names(func(_ context.Context, e *host.Engine) ([]string, error) { return e.AgentNames(), nil }),
		"commit":  a.names(taskCommits),
		"plugin":  a.names(pluginNames),
		"policy":  policyRefs,
	}
	cli.EachCommand(root, func(cmd *cobra.Command) {
		if arguments := strings.Fields(strings.ReplaceAll(cmd.Use, "[", "")); len(arguments) > 1 {
			switch strings.Trim(arguments[1], "]") {
			case "TASK":
				cmd.ValidArgsFunction = a.taskIDs(acceptedStatuses(cmd))
			case "POLICY", "A":
				cmd.ValidArgsFunction = policyRefs
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete := values[f.Name]
			if c, ok := f.Value.(interface{ Options() []string }); ok {
				complete = cobra.FixedCompletions(c.Options(), cobra.ShellCompDirectiveNoFileComp)
			}
			if complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // It fails only the second time.
			}
		})
	})
}

// policyRefs completes built-in versions in addition to file names.
func policyRefs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return policies.Versions(), cobra.ShellCompDirectiveDefault
}

// acceptedStatuses returns the statuses of the tasks that a command accepts, or nil for all.
func acceptedStatuses(cmd *cobra.Command) []task.Status {
	switch cmd.Name() {
	case "answer":
		return []task.Status{task.Waiting}
	case "resume":
		return []task.Status{task.Stuck, task.Parked}
	case "run":
		return []task.Status{task.Open, task.Waiting, task.Stuck, task.Parked, task.Merging}
	case "status", "findings", "explain":
		return nil
	default:
		return []task.Status{task.Open}
	}
}

// names completes the names that list returns. It ignores errors, since the command itself
// reports them.
func (a *app) names(list func(context.Context, *host.Engine) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (all []string, _ cobra.ShellCompDirective) {
		_ = a.with(cmd.Context(), func(e *host.Engine) (err error) {
			all, err = list(cmd.Context(), e)
			return err
		})
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// taskCommits lists the commits that run made, each with its task.
func taskCommits(ctx context.Context, e *host.Engine) ([]string, error) {
	tasks, err := e.Tasks(ctx)
	var commits []string
	for _, t := range tasks {
		if t.Commit != nil {
			commits = append(commits, t.Commit.SHA+"\t"+t.TaskID)
		}
	}
	return commits, err
}

func pluginNames(ctx context.Context, e *host.Engine) ([]string, error) {
	all, err := e.Plugins().List(ctx)
	names := []string{api.Auto}
	for _, p := range all.Plugins {
		names = append(names, p.Name)
	}
	return names, err
}

// taskIDs completes the id of a task with one of these statuses, or with any status if the
// list is empty, and shows the status next to it.
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
