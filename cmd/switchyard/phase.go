package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newPhaseCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "phase",
		Short: "Run a round one phase at a time",
		Long: `Phase runs a task's round step by step; switchyard round runs all steps at once.
Each phase has a gate: the attestation, in this very round, of the agent that did
its work; switchyard audit records one. The phases are, in their order: start,
research, design, tests, draft, review and commit; stuck stops the task.
docs/tasks.md has the whole picture.`,
		Example: `  switchyard phase start TASK-1 --query 'retry failed uploads'
  switchyard audit TASK-1 --agent np-executor --search 'upload retry'
  switchyard audit TASK-1 --agent np-executor --tool-use-log log.json
  switchyard phase draft TASK-1 --verify-cmd 'make test'
  switchyard audit TASK-1 --agent np-critic --tool-use-log '[]'
  switchyard phase review TASK-1 --report report.json
  switchyard phase commit TASK-1`,
	},
		newPhaseStartCmd(a),
		newPhaseDoneCmd(a, task.Research, "Record that the researchers are done"),
		newPhaseDoneCmd(a, task.Design, "Record that the architect is done"),
		newPhaseDoneCmd(a, task.Tests, "Record that the test writer is done"),
		newPhaseDraftCmd(a),
		newPhaseReviewCmd(a),
		newPhaseCommitCmd(a),
		newPhaseStuckCmd(a),
	)
}

func newPhaseStartCmd(a *app) *cobra.Command {
	var req api.StartRequest
	cmd := &cobra.Command{
		Use:   "start TASK",
		Short: "Begin the work on a task",
		Long: `Start begins the work on a task. After a commit, or after the task was stuck, it
begins again in the next round, with the project's number of rounds.`,
		Args: cli.OneTask,
	}
	cmd.Flags().StringVar(&req.Query, "query", "", "what the work is about: `TEXT`")
	cli.MaxRoundsVar(cmd.Flags(), &req.MaxRounds)
	baseVar(cmd.Flags(), &req.Base)
	forceVar(cmd, &req.Force, "begin again although the work is under way")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		return a.showTask(e.Start(ctx, args[0], req))
	})
	return cmd
}

func newPhaseDoneCmd(a *app, phase task.Phase, short string) *cobra.Command {
	req := api.PhaseRequest{Phase: phase}
	var tests []string
	cmd := &cobra.Command{
		Use:   string(phase) + " TASK",
		Short: short,
		Args:  cli.OneTask,
	}
	if phase == task.Tests {
		cmd.Flags().StringArrayVar(&tests, "tests", nil, "the test files that were written: `FILES`, with commas between them")
	}
	forceVar(cmd, &req.Force, "go on without the attestations that are missing")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		for _, list := range tests {
			req.Tests = append(req.Tests, splitList(list)...)
		}
		return a.showTask(e.Done(ctx, args[0], req))
	})
	return cmd
}

func newPhaseDraftCmd(a *app) *cobra.Command {
	var verify verifyFlags
	var req api.DraftRequest
	var exitCode bool
	cmd := &cobra.Command{
		Use:   "draft TASK",
		Short: "Verify a draft",
		Long: `Draft verifies a draft: with --verify-cmd, with the result of a verification that
you ran yourself (--verify or --verify-exit-code), or else with the project's own
command. A green draft waits for its review. A red draft is decided at once, and
uses up its round.`,
		Args: cli.OneTask,
	}
	verify.register(cmd.Flags())
	roundVar(cmd.Flags(), &req.Round, "the round `N` that the draft is of, from 1")
	cli.PolicyVar(cmd.Flags(), &req.Policy)
	a.engineVar(cmd.Flags())
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "make the decision on a red draft the exit status")
	forceVar(cmd, &req.Force, "go on without the executor's attestation")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) (err error) {
		if req.Verify, err = verify.request(cmd.Flags()); err != nil {
			return err
		}
		done := a.showWork("verifying " + args[0])
		d, err := e.Draft(ctx, args[0], req)
		done()
		if exitCode && d.Decision != nil {
			a.Exit = cli.ExitOf(d.Decision.NextAction)
		}
		return cli.Show(&a.Program, d, err, (*render.Printer).DraftResult)
	})
	return cmd
}

func newPhaseReviewCmd(a *app) *cobra.Command {
	var f decisionFlags
	cmd := &cobra.Command{
		Use:   "review TASK --report [PLUGIN=]FILE",
		Short: "Decide a round on its critics' reports",
		Long: `Review decides the round on the critics' reports, as switchyard round does. It needs
the critic's attestation, runs no verification, and does not commit: phase commit
carries out a decision to commit. If that will need more, review says so, and with
--exit-code the exit status is 15.`,
		Args: cli.OneTask,
	}
	f.register(a, cmd.Flags())
	forceVar(cmd, &f.req.Force, forceReview)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		req, err := f.request(a, e)
		if err != nil {
			return err
		}
		d, err := e.Review(ctx, args[0], req)
		return a.showDecision(d, err, f.exitCode)
	})
	return cmd
}

func newPhaseCommitCmd(a *app) *cobra.Command {
	var req api.CommitRequest
	cmd := &cobra.Command{
		Use:   "commit TASK",
		Short: "Commit a task, as its review decided",
		Long: `Commit marks a task as committed. The latest phase of the round must be a review
that decided to commit. If the task was ever verified, or the project has a
verification, the verification of this round must be green.`,
		Args: cli.OneTask,
	}
	forceVar(cmd, &req.Force, "commit although something is missing")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		return a.showTask(e.Commit(ctx, args[0], req))
	})
	return cmd
}

func newPhaseStuckCmd(a *app) *cobra.Command {
	var f reportFlags
	var reason string
	cmd := &cobra.Command{
		Use:   "stuck TASK --reason TEXT",
		Short: "Mark a task as stuck",
		Long: `Stuck stops a task, on a person's word. The task takes no more rounds until
switchyard resume. Its open findings are the ones in the reports of --report, or
else the ones of its latest decision.`,
		Args: cli.OneTask,
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "the reason: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		if strings.TrimSpace(reason) == "" {
			return cli.Usagef("--reason is missing: say why the task is stuck")
		}
		reports, err := f.refs(e)
		if err != nil {
			return err
		}
		return a.showTask(e.Stop(ctx, args[0], api.StopRequest{
			Reason: textutil.Fit(reason, maxReason), Request: host.Request{Reports: reports, Stdin: a.In},
		}))
	})
	return cmd
}
