package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newResumeCmd(a *app) *cobra.Command {
	var rounds string
	var replan, manual, reset bool
	var req host.ResumeRequest
	cmd := &cobra.Command{
		Use:   "resume TASK --rounds +N | --replan | --manual | --reset",
		Short: "Let a stuck task go on",
		Long: `Resume takes a task out of being stuck, into its next round. What was evidence in
the round that it got stuck in counts no more.

  --rounds +5  goes on as before, with five more rounds
  --replan     the plan was made anew: the executor begins with it
  --manual     a person makes the next draft, which then needs no agent's stamp
  --reset      begins anew, and forgets what the findings' past is

All but --rounds grant as many rounds as the project does to a new task. Who
resumed a task, and how, is recorded.`,
		Example: `  switchyard resume TASK-1 --rounds +5
  switchyard resume TASK-1 --replan --reason 'the API was withdrawn'`,
		Args: oneTask,
	}
	cmd.Flags().StringVar(&rounds, "rounds", "", "go on with so many more rounds: `+N`")
	cmd.Flags().BoolVar(&replan, "replan", false, "go on with a new plan")
	cmd.Flags().BoolVar(&manual, "manual", false, "go on with a draft by a person")
	cmd.Flags().BoolVar(&reset, "reset", false, "begin anew")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		modes := []task.Mode{}
		for _, m := range []struct {
			mode task.Mode
			on   bool
		}{{task.MoreRounds, cmd.Flags().Changed("rounds")}, {task.Replan, replan}, {task.Manual, manual}, {task.Reset, reset}} {
			if m.on {
				modes = append(modes, m.mode)
			}
		}
		if len(modes) != 1 {
			return usagef("give one of --rounds +N, --replan, --manual and --reset")
		}
		req.Mode, req.Reason = modes[0], render.Clip(req.Reason, maxReason)
		if req.Mode == task.MoreRounds {
			n, err := strconv.Atoi(strings.TrimPrefix(rounds, "+"))
			if err != nil || n < 1 || n > task.MaxRounds || strings.HasPrefix(rounds, "++") {
				return usagef("--rounds %q: it adds 1 to %d rounds, such as +5", rounds, task.MaxRounds)
			}
			req.Rounds = n
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Resume(ctx, args[0], req) })
	})
	return cmd
}
