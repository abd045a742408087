package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newAnswerCmd(a *app) *cobra.Command {
	var req host.AnswerRequest
	var file string
	cmd := &cobra.Command{
		Use:   "answer TASK --choice N | --text TEXT | --file FILE",
		Short: "Answer a question of a task that waits",
		Long: `Answer gives the user's answer to a question that a critic asked. Once all
questions of the round have one, the task goes on in its next round.

switchyard status TASK shows the questions; where there are several, --question
says which one is answered, by the fingerprint of its finding. The same answer
again does nothing; another answer is refused, and so is one to an older round's
question.`,
		Example: `  switchyard answer TASK-1 --choice 2
  switchyard answer TASK-1 --question 3f2a90c1d4e5b678 --text 'Keep the old endpoint for a year.'
  switchyard answer TASK-1 --file answer.md`,
		Args: oneTask,
	}
	cmd.Flags().StringVar(&req.Question, "question", "", "the question, by the `FINGERPRINT` of its finding")
	cmd.Flags().IntVar(&req.Choice, "choice", 0, "choose the question's choice `N`, from 1")
	cmd.Flags().StringVar(&req.Text, "text", "", "answer with `TEXT`")
	cmd.Flags().StringVar(&file, "file", "", "answer with the content of `FILE`; - is standard input")
	cmd.Flags().IntVar(&req.Round, "round", 0, "the round `N` that asked, from 1 (default the newest)")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		flags := cmd.Flags()
		given := 0
		for _, name := range []string{"choice", "text", "file"} {
			if flags.Changed(name) {
				given++
			}
		}
		switch {
		case given != 1:
			return usagef("give one of --choice, --text and --file")
		case flags.Changed("choice") && req.Choice < 1:
			return usagef("--choice %d: choices count from 1", req.Choice)
		case flags.Changed("round") && req.Round < 1:
			return usagef("--round %d: rounds count from 1", req.Round)
		}
		req.Text = strings.TrimSpace(req.Text)
		if flags.Changed("file") {
			text, err := a.readAnswer(ctx, file)
			if err != nil {
				return err
			}
			req.Text = text
		}
		return a.step(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Answer(ctx, args[0], req) })
	})
	return cmd
}

// readAnswer reads an answer from a file, without the white space around it.
func (a *app) readAnswer(ctx context.Context, file string) (string, error) {
	var text []byte
	var err error
	if file == api.Stdin {
		text, err = project.ReadAll(ctx, a.in, "standard input", task.MaxAnswer)
	} else {
		var p project.Project
		if p, err = a.project(); err == nil {
			text, err = p.Read(ctx, file, task.MaxAnswer)
		}
	}
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = errs.New(errs.AnswerInvalid, "the answer has more than %d bytes", task.MaxAnswer)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\ufffd")), err
}
