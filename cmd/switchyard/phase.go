package main

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newPhaseCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "phase",
		Short: "Run a round one phase at a time",
		Long: `Phase runs a task's round step by step, where round does it in one command. Each
phase has a gate: the stamp of the agent that did its work, in this very round.
switchyard audit makes one. The phases are, in their order,

  start     the work begins, or begins anew after a commit or after being stuck
  research  the researchers are done
  design    the architect is done (optional)
  tests     the test writer is done (optional)
  draft     the executor is done, in later rounds the build-fixer, and the draft
            is verified; a red one goes back at once and uses up its round
  review    the critic is done, and the round is decided
  commit    the task is committed, as the review decided
  stuck     a person puts the task aside

docs/tasks.md has the whole picture.`,
		Example: `  switchyard phase start TASK-1 --query 'retry failed uploads'
  switchyard audit TASK-1 --agent np-executor --tool-use-log log.json
  switchyard phase draft TASK-1 --verify-cmd 'make test'
  switchyard phase review TASK-1 --report report.json
  switchyard phase commit TASK-1`,
		Args: unknownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(
		newPhaseStartCmd(a),
		newPhaseDoneCmd(a, task.Research, "Say that the researchers are done"),
		newPhaseDoneCmd(a, task.Design, "Say that the architect is done"),
		newPhaseDoneCmd(a, task.Tests, "Say that the test writer is done"),
		newPhaseDraftCmd(a),
		newPhaseReviewCmd(a),
		newPhaseCommitCmd(a),
		newPhaseStuckCmd(a),
	)
	return cmd
}

// TaskResult runs a command that leaves a task somewhere, and shows where.
func (a *app) step(ctx context.Context, do func(*host.Engine) (host.TaskResult, error)) error {
	return a.with(ctx, func(e *host.Engine) error {
		s, err := do(e)
		if err != nil {
			return err
		}
		return a.print(s, func(p *render.Printer) { p.TaskResult(s) })
	})
}

func newPhaseStartCmd(a *app) *cobra.Command {
	var req host.StartRequest
	var force forceFlags
	cmd := &cobra.Command{
		Use:   "start TASK",
		Short: "Begin the work on a task",
		Long: `Start begins the work on a task. After a commit, or after the task was stuck, it
begins anew in the next round, with as many rounds as the project grants.`,
		Args: oneTask,
	}
	cmd.Flags().StringVar(&req.Query, "query", "", "what the work is about: `TEXT`")
	cmd.Flags().IntVar(&req.MaxRounds, "max-rounds", 0, maxRoundsUsage())
	cmd.Flags().StringVar(&req.Base, "base", "", baseUsage)
	force.register(cmd.Flags(), "begin anew although the work goes on")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) (err error) {
		if err := checkBase(cmd.Flags(), req.Base); err != nil {
			return err
		}
		if err := checkMaxRounds(cmd.Flags(), req.MaxRounds); err != nil {
			return err
		}
		if req.Force, err = force.request(a); err != nil {
			return err
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Start(ctx, args[0], req) })
	})
	return cmd
}

func newPhaseDoneCmd(a *app, phase task.Phase, short string) *cobra.Command {
	req := host.PhaseRequest{Phase: phase}
	var tests []string
	var force forceFlags
	cmd := &cobra.Command{
		Use:   string(phase) + " TASK",
		Short: short,
		Args:  oneTask,
	}
	if phase == task.Tests {
		cmd.Flags().StringArrayVar(&tests, "tests", nil, "the test files that were written: `FILES`, with commas between them")
	}
	force.register(cmd.Flags(), "go on without the stamps that are missing")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) (err error) {
		if req.Force, err = force.request(a); err != nil {
			return err
		}
		for _, list := range tests {
			req.Tests = append(req.Tests, splitList(list)...)
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Done(ctx, args[0], req) })
	})
	return cmd
}

func newPhaseDraftCmd(a *app) *cobra.Command {
	var verify verifyFlags
	var force forceFlags
	req := host.DraftRequest{}
	var exitCode bool
	cmd := &cobra.Command{
		Use:   "draft TASK",
		Short: "Verify a draft",
		Long: `Draft verifies a draft: by --verify-cmd, or by what --verify or
--verify-exit-code tells of a verification that ran already, else by the
project's own command. A green draft is stamped and waits for its review. A red
one is decided at once, and uses up its round.`,
		Args: oneTask,
	}
	verify.register(cmd.Flags())
	cmd.Flags().IntVar(&req.Round, "round", 0, "the round `N` that the draft is of, from 1")
	cmd.Flags().StringVar(&req.Policy, "policy", "", policyUsage())
	a.registerEngine(cmd.Flags())
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "make the decision on a red draft the exit status")
	force.register(cmd.Flags(), "go on without the executor's stamp")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) (err error) {
		if req.Verify, err = verify.request(cmd.Flags()); err != nil {
			return err
		}
		if err := checkRound(cmd.Flags(), req.Round); err != nil {
			return err
		}
		if err := checkPolicy(cmd.Flags(), req.Policy); err != nil {
			return err
		}
		if req.Force, err = force.request(a); err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.observed("verifying " + args[0])
			d, err := e.Draft(ctx, args[0], req)
			done()
			if err != nil {
				return err
			}
			if exitCode && d.Decision != nil {
				a.exit = decisionExit(d.Decision.NextAction)
			}
			return a.print(d, func(p *render.Printer) { p.DraftResult(d) })
		})
	})
	return cmd
}

func newPhaseReviewCmd(a *app) *cobra.Command {
	var f requestFlags
	cmd := &cobra.Command{
		Use:   "review TASK --report [PLUGIN=]FILE",
		Short: "Decide a round on its critics' reports",
		Long: `Review reads the critics' reports and decides the round, as switchyard round
does. It wants the critic's stamp, runs no verification, and does not commit: a
decision to commit is carried out by switchyard phase commit. Where that will
want more, it says so, and with --exit-code the exit status is 15.`,
		Args: oneTask,
	}
	f.registerTask(cmd.Flags())
	a.registerEngine(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (host.Decision, error) {
			return e.Review(ctx, args[0], req)
		})
	})
	return cmd
}

func newPhaseCommitCmd(a *app) *cobra.Command {
	var req host.CommitRequest
	var force forceFlags
	cmd := &cobra.Command{
		Use:   "commit TASK",
		Short: "Commit a task, as its review decided",
		Long: `Commit marks a task as committed. The newest phase of the round must be a review
that decided so, and once the task was ever verified, or where the project has a
verification, the round's own must be green.`,
		Args: oneTask,
	}
	force.register(cmd.Flags(), "commit although something is missing")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) (err error) {
		if req.Force, err = force.request(a); err != nil {
			return err
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Commit(ctx, args[0], req) })
	})
	return cmd
}

func newPhaseStuckCmd(a *app) *cobra.Command {
	var f requestFlags
	var reason string
	cmd := &cobra.Command{
		Use:   "stuck TASK --reason TEXT",
		Short: "Put a task aside as stuck",
		Long: `Stuck puts a task aside, on a person's word. It takes no more rounds until
switchyard resume takes it out. With --report it is left with the findings of
those reports, else with those of its newest decision.`,
		Args: oneTask,
	}
	f.evidence(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if strings.TrimSpace(reason) == "" {
			return usagef("--reason is missing: say why the task is stuck")
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		req := host.StopRequest{Reason: render.Clip(reason, maxReason)}
		if req.Request, err = f.request(cmd.Flags(), p, a.in); err != nil {
			return err
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Stop(ctx, args[0], req) })
	})
	return cmd
}

// maxReason is how much of a reason is kept, in code points.
const maxReason = 300
