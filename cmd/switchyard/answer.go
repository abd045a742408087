package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newAnswerCmd(a *app) *cobra.Command {
	var req host.AnswerRequest
	var file string
	cmd := &cobra.Command{
		Use:   "answer TASK --choice N | --text TEXT | --file FILE",
		Short: "Answer a question of a task that waits",
		Long: `Answer records the user's answer to a question of a critic. Once all questions of
the round are answered, the task goes on in its next round.

switchyard status TASK shows the questions. If there are several, --question names
the one to answer, by the fingerprint of its finding. Repeating an answer does
nothing; a different answer is refused, and so is an answer to a question of an
older round.`,
		Example: `  switchyard answer TASK-1 --choice 2
  switchyard answer TASK-1 --question 3f2a90c1d4e5b678 --text 'Keep the old endpoint for a year.'
  switchyard answer TASK-1 --file answer.md`,
		Args: oneTask,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Question, "question", "", "the question, by the `FINGERPRINT` of its finding")
	numberVar(flags, &req.Choice, "choice", 1, 0, "choose the question's choice `N`, from 1", "choices count from 1")
	flags.StringVar(&req.Text, "text", "", "answer with `TEXT`")
	flags.StringVar(&file, "file", "", "answer with the content of `FILE`; - is standard input")
	roundVar(flags, &req.Round, "the round `N` that asked, from 1 (default the latest)")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if len(given(flags, "choice", "text", "file")) != 1 {
			return usagef("give one of --choice, --text and --file")
		}
		req.Text = strings.TrimSpace(req.Text)
		if flags.Changed("file") {
			text, err := a.readAnswer(ctx, file)
			if err != nil {
				return err
			}
			req.Text = text
		}
		return a.runStep(ctx, func(e *host.Engine) (host.TaskResult, error) { return e.Answer(ctx, args[0], req) })
	})
	return cmd
}

// readAnswer reads an answer from a file and trims it.
func (a *app) readAnswer(ctx context.Context, file string) (string, error) {
	text, err := a.readInput(ctx, file, task.MaxAnswer)
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = errs.New(errs.AnswerInvalid, "the answer has more than %d bytes", task.MaxAnswer)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\ufffd")), err
}
