package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newRoundCmd(a *app) *cobra.Command {
	var f decisionFlags
	var verify verifyFlags
	var prompt, plan string
	cmd := &cobra.Command{
		Use:   "round TASK [--report [PLUGIN=]FILE]",
		Short: "Run a task's round and record the decision",
		Long: `Round verifies a task's draft, has a critic review it, decides where the task
goes next, and records the decision in the project's ledger. If it succeeds, the
decision is durable; if it fails, only the record of what ran has changed.

The verification is the command of --verify-cmd, or else the one in
switchyard.yaml. Use --verify or --verify-exit-code to pass the result of one that
you ran yourself. A red verification sends the task back without a review.

Then the commands that switchyard.yaml lists under reports run. Their output
counts in addition to the reports of --report.

Without --report the critic is spawned, unless switchyard.yaml has reports and
names no spawn.adapter. If its result cannot be trusted, the task becomes stuck; it
is never committed. docs/spawns.md says what the critic sees, and what the base is.
If a round was killed, running it again continues it.

--prompt or --plan describes the task. The text is recorded for later rounds, and
given to the critic, the researchers and the executor.

A report that names another task or another round is refused. With --round the
command is refused too unless the task is in that round: use it with reports
that cannot say which round they are about.`,
		Example: `  switchyard round TASK-1
  switchyard round TASK-1 --adapter codex --verify-cmd 'make test'
  switchyard round TASK-1 --report critic.json --report lint.sarif --max-rounds 5
  switchyard round TASK-1 --report lint.sarif --spawn
  switchyard round TASK-1 --report - --exit-code < report.json`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	f.register(a, flags)
	verify.register(flags)
	forceVar(cmd, &f.req.Force, forceReview)
	flags.StringVar(&prompt, "prompt", "", "describe the task from now on: `TEXT`")
	cli.TextVar(flags, &plan, "plan", "describe the task from now on by the content of `FILE`")
	flags.BoolVar(&f.req.Spawn, "spawn", false, "spawn the critic in addition to the reports that are given")
	cli.AdapterVar(flags, &f.req.Adapter)
	baseVar(flags, &f.req.Base)
	flags.BoolVar(&f.req.AllowEmpty, "allow-empty", false, "spawn the critic although nothing differs from the base")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		req, err := f.request(a, e)
		if err != nil {
			return err
		}
		if req.Verify, err = verify.request(flags); err != nil {
			return err
		}
		switch {
		case len(req.Reports) == 0 || req.Spawn:
		case req.Adapter != "":
			return cli.Usagef("--adapter is for an agent that is spawned: leave --report out, or add --spawn")
		case req.AllowEmpty:
			return cli.Usagef("--allow-empty is for a critic that is spawned: leave --report out, or add --spawn")
		}
		if err := cli.CheckExclusive(flags, "prompt", "plan"); err != nil {
			return err
		}
		if flags.Changed("prompt") || plan != "" {
			if req.Prompt, err = cli.TaskText(ctx, prompt, plan, a.project.Read); err != nil {
				return err
			}
		}
		done := a.showWork("verifying and deciding " + args[0])
		r, err := e.Round(ctx, args[0], req)
		done()
		if err != nil {
			return err
		}
		if f.exitCode {
			a.Exit = cli.ExitOf(r.NextAction)
		}
		return cli.Show(&a.Program, r, nil, (*render.Printer).RoundResult)
	})
	return cmd
}

// forceReview is the effect of --force on a round's decision.
const forceReview = "decide without the agents' attestations that are missing"
