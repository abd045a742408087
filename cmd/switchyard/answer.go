package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newAnswerCmd(a *app) *cobra.Command {
	var req host.AnswerRequest
	var file string
	cmd := &cobra.Command{
		Use:   "answer TASK --choice N | --text TEXT | --file FILE",
		Short: "Answer the question of a waiting task",
		Long: `Answer records the user's answer to a question of a critic. Once all questions of
the round are answered, the task goes on in its next round.

switchyard status TASK shows the questions. If there are several, --question names
the one to answer, by the fingerprint of its finding. Repeating an answer has no
effect; a different answer is refused, and so is an answer to a question of an
older round.`,
		Example: `  switchyard answer TASK-1 --choice 2
  switchyard answer TASK-1 --question 3f2a90c1d4e5b678 --text 'Keep the old endpoint for a year.'
  switchyard answer TASK-1 --file answer.md`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Question, "question", "", "the question, by the `FINGERPRINT` of its finding")
	cli.NumberVar(flags, &req.Choice, "choice", 1, 0, "choose the question's choice `N`, from 1")
	flags.StringVar(&req.Text, "text", "", "answer with `TEXT`")
	flags.StringVar(&file, "file", "", "answer with the content of `FILE`; - is standard input")
	roundVar(flags, &req.Round, "the round `N` that asked, from 1 (default the latest)")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) (err error) {
		if len(cli.Given(flags, "choice", "text", "file")) != 1 {
			return cli.Usagef("give one of --choice, --text and --file")
		}
		req.Text = strings.TrimSpace(req.Text)
		if flags.Changed("file") {
			if req.Text, err = a.readAnswer(ctx, file); err != nil {
				return err
			}
		}
		return a.showTask(e.Answer(ctx, args[0], req))
	})
	return cmd
}

func (a *app) readAnswer(ctx context.Context, file string) (string, error) {
	text, err := a.readInput(ctx, file, task.MaxAnswer)
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = errs.New(errs.AnswerInvalid, "the answer has more than %d bytes", task.MaxAnswer)
	}
	return strings.TrimSpace(string(text)), err
}

func newResumeCmd(a *app) *cobra.Command {
	var rounds string
	var req host.ResumeRequest
	cmd := &cobra.Command{
		Use:   "resume TASK [--rounds +N | --replan | --manual | --reset]",
		Short: "Continue a stuck or parked task",
		Long: `Resume continues a stuck task in its next round. Evidence of the round in which
it became stuck no longer counts.

  --rounds +5  continues as before, with five more rounds
  --replan     there is a new plan: the executor begins with it
  --manual     a person makes the next draft, which then needs no attestation
  --reset      begins again, and forgets the history of the findings

All but --rounds grant as many rounds as a new task of the project has. Who resumed
a task, and how, is recorded.

A task that is parked until a usage limit ends is continued at once, without any of
these: use it if the limit has ended earlier.`,
		Example: `  switchyard resume TASK-1 --rounds +5
  switchyard resume TASK-1 --replan --reason 'the API was withdrawn'`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	flags.StringVar(&rounds, "rounds", "", "continue with `+N` more rounds")
	for mode, usage := range map[task.Mode]string{
		task.Replan: "continue with a new plan", task.Manual: "continue with a draft by a person", task.Reset: "begin again",
	} {
		flags.Bool(string(mode), false, usage)
	}
	flags.StringVar(&req.Reason, "reason", "", "the reason: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		modes := cli.Given(flags, "rounds", "replan", "manual", "reset")
		if len(modes) == 0 {
			if t, err := e.Task(ctx, args[0]); err == nil && t.Status == task.Parked {
				return a.showTask(e.Resume(ctx, args[0], req))
			}
		}
		if len(modes) != 1 {
			return cli.Usagef("give one of --rounds +N, --replan, --manual and --reset")
		}
		req.Reason = textutil.Fit(req.Reason, maxReason)
		req.Mode = task.Mode(strings.TrimPrefix(modes[0], "--"))
		if req.Mode == task.MoreRounds {
			n, err := strconv.Atoi(strings.TrimPrefix(rounds, "+"))
			if err != nil || n < 1 || n > task.MaxRounds || strings.HasPrefix(rounds, "++") {
				return cli.Usagef("--rounds %q: it must add 1 to %d rounds, such as +5", rounds, task.MaxRounds)
			}
			req.Rounds = n
		}
		return a.showTask(e.Resume(ctx, args[0], req))
	})
	return cmd
}
