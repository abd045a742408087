package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newExplainCmd(a *app) *cobra.Command {
	var round int
	var run, commit string
	cmd := &cobra.Command{
		Use:   "explain [TASK]",
		Short: "Explain a decision",
		Long: `Explain shows the latest decision of a task, or of one of its rounds: what the
policy saw and chose, every finding with the places that reported it, and the
digests of the reports, plugins and policy behind it.

With --commit it shows the decision that a commit of run names in its message, and
fails unless the commit has exactly the files that were verified and reviewed.

With --transcript it shows what an agent said in one run, clipped: RUN is the id of
a run or its beginning, or a role, such as critic, for its latest run. --output
json prints the output of the agent's program, without secrets.`,
		Example: `  switchyard explain TASK-1
  switchyard explain TASK-1 --round 1 --output json
  switchyard explain TASK-1 --transcript critic
  switchyard explain --commit HEAD`,
		Args: cli.OrNothing(cli.OneTask),
	}
	flags := cmd.Flags()
	roundVar(flags, &round, "explain round `N`, from 1 (default the latest)")
	cli.TextVar(flags, &run, "transcript", "show what the agent of `RUN` said: a run's id, or a role for its latest run")
	cli.TextVar(flags, &commit, "commit", "explain the decision behind the commit `REV`, such as HEAD")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		switch {
		case commit != "" && (len(args) > 0 || len(cli.Given(flags, "round", "transcript")) > 0):
			return cli.Usagef("--commit names the task and the round by itself: leave TASK, --round and --transcript out")
		case commit != "":
			x, err := e.ExplainCommit(ctx, commit)
			if err != nil {
				return err
			}
			var failure error
			if c := x.Commit; !c.Matches {
				failure = errs.New(errs.EvidenceMismatch, "commit %.12s: %s", c.SHA, c.Problem).With("commit", c.SHA).With("recorded", c.Recorded)
			}
			return showCheck(a, x, failure, (*render.Printer).Explanation)
		case len(args) == 0:
			return cli.Usagef("give the id of a TASK, or --commit REV")
		}
		if run == "" {
			x, err := e.Explain(ctx, args[0], round)
			return cli.Show(&a.Program, x, err, (*render.Printer).Explanation)
		}
		if flags.Changed("round") {
			return cli.Usagef("--transcript names a run, so leave --round out")
		}
		return a.showTranscript(ctx, e, args[0], run)
	})
	return cmd
}

func (a *app) showTranscript(ctx context.Context, e *host.Engine, id, run string) error {
	t, err := e.Transcript(ctx, id, run)
	if err != nil {
		return err
	}
	defer t.Close()
	return a.Write(func(w io.Writer) error {
		if a.Output == cli.OutputJSON {
			_, err := io.Copy(render.Raw(w), t)
			return err
		}
		p := render.New(w, a.Out)
		p.Transcript(t.TranscriptEntry)
		return t.EachPart(p.TranscriptPart)
	})
}
