package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newResumeCmd(a *app) *cobra.Command {
	var rounds string
	var req host.ResumeRequest
	cmd := &cobra.Command{
		Use:   "resume TASK --rounds +N | --replan | --manual | --reset",
		Short: "Let a stuck task go on",
		Long: `Resume lets a stuck task go on, in its next round. Evidence of the round in which
it became stuck no longer counts.

  --rounds +5  goes on as before, with five more rounds
  --replan     there is a new plan: the executor begins with it
  --manual     a person makes the next draft, which then needs no attestation
  --reset      begins again, and forgets the history of the findings

All but --rounds grant as many rounds as a new task of the project has. Who resumed
a task, and how, is recorded.`,
		Example: `  switchyard resume TASK-1 --rounds +5
  switchyard resume TASK-1 --replan --reason 'the API was withdrawn'`,
		Args: oneTask,
	}
	flags := cmd.Flags()
	flags.StringVar(&rounds, "rounds", "", "go on with `+N` more rounds")
	for mode, usage := range map[task.Mode]string{
		task.Replan: "go on with a new plan", task.Manual: "go on with a draft by a person", task.Reset: "begin again",
	} {
		flags.Bool(string(mode), false, usage)
	}
	flags.StringVar(&req.Reason, "reason", "", "why: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		modes := given(flags, "rounds", "replan", "manual", "reset")
		if len(modes) != 1 {
			return usagef("give one of --rounds +N, --replan, --manual and --reset")
		}
		req.Reason = textutil.Fit(req.Reason, maxReason)
		req.Mode = task.Mode(strings.TrimPrefix(modes[0], "--"))
		if req.Mode == task.MoreRounds {
			n, err := strconv.Atoi(strings.TrimPrefix(rounds, "+"))
			if err != nil || n < 1 || n > task.MaxRounds || strings.HasPrefix(rounds, "++") {
				return usagef("--rounds %q: it adds 1 to %d rounds, such as +5", rounds, task.MaxRounds)
			}
			req.Rounds = n
		}
		return a.runStep(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Resume(ctx, args[0], req) })
	})
	return cmd
}
