package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/stats"
)

func newEvaluateCmd(a *app) *cobra.Command {
	var req api.EvaluateRequest
	var page string
	cmd := &cobra.Command{
		Use:   "evaluate --last N",
		Short: "Show what a first review of past commits would have decided",
		Long: `Evaluate goes through the last N commits of the current branch, or with --merges
through its last N merges, and shows for each what the first review of a task with
this change would have decided: commit, another draft, a question, or stuck.

It runs the verification and the report commands of switchyard.yaml as they are
today, in a copy of the repository, and decides by the adopted policy. A critic is
not run, and nothing is recorded. docs/gate.md has the details.

With --page it also writes a page like that of stats --html. It replaces an older page
of evaluate, and refuses to replace any other file.`,
		Example: `  switchyard evaluate --last 20
  switchyard evaluate --last 50 --merges --page evaluation.html`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	cli.NumberVar(flags, &req.Last, "last", 1, api.MaxEvaluated, "evaluate the last `N` commits")
	flags.BoolVar(&req.Merges, "merges", false, "evaluate only merges")
	cli.TextVar(flags, &page, "page", "also write a page to `FILE`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if err := cli.CheckRequired(flags, "last"); err != nil {
			return err
		}
		if page == api.Stdin {
			return cli.Usagef("--page needs the name of a file")
		}
		if page != "" {
			if err := checkPage(a.project, page, "evaluate"); err != nil {
				return err // Fail before any work.
			}
		}
		var done func()
		req.Observe, done = a.showCount("evaluating commits")
		result, err := e.Evaluate(ctx, req)
		done()
		if err == nil && page != "" {
			var text bytes.Buffer
			if err := stats.EvaluationHTML(&text, result, a.aboutPage()); err != nil {
				return err
			}
			err = writeFile(a.project, page, text.Bytes())
		}
		return cli.Show(&a.Program, result, err, (*render.Printer).Evaluation)
	})
	return cmd
}
