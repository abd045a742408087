package command

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newAnswerCmd(a *app) *cobra.Command {
	var answer flow.Answer
	cmd := &cobra.Command{
		Use:   "answer TASK --choice N | --text TEXT",
		Short: "Answer the question of a waiting task",
		Long: `Answer sends an answer to the task, which goes on with it. The question is the one
that switchyard-fleet status TASK shows; if a task has several, the next one is
shown once its home has recorded the answer.

The server keeps the answer until the home of the project has recorded it. The
answer to a question that is no longer open is dropped.`,
		Example: `  switchyard-fleet answer SHOP-2 --choice 2
  switchyard-fleet answer SHOP-2 --text 'Keep the old endpoint for a year.'`,
		Args: cli.OneTask,
	}
	flags := cmd.Flags()
	cli.NumberVar(flags, &answer.Choice, "choice", 1, 0, "choose the question's choice `N`, from 1")
	cli.TextVar(flags, &answer.Text, "text", "answer with `TEXT`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(cli.Given(flags, "choice", "text")) != 1 {
			return cli.Usagef("give one of --choice and --text")
		}
		return a.with(cmd.Context(), func(c client.Client, project string) error {
			return a.answer(cmd.Context(), c, project, args[0], answer)
		})
	}
	return cmd
}

func (a *app) answer(ctx context.Context, c client.Client, project, id string, answer flow.Answer) error {
	t, err := describe(ctx, c, project, id)
	if err != nil {
		return err
	}
	q := t.at.Question
	answer.Text = strings.TrimSpace(answer.Text)
	switch {
	case t.ended() || t.at.Status != task.Waiting || q == nil:
		return errs.New(errs.FleetNoQuestion, "%s does not wait for an answer", id).With("task", id)
	case answer.Choice > len(q.Choices):
		return errs.New(errs.AnswerInvalid, "the question has %d choices: there is no choice %d", len(q.Choices), answer.Choice).With("task", id).WithHint("switchyard-fleet status " + id + " shows the choices")
	case answer.Choice == 0 && answer.Text == "":
		return errs.New(errs.AnswerInvalid, "the answer is empty").With("task", id).WithHint("switchyard-fleet status " + id + " shows the question")
	case !utf8.ValidString(answer.Text):
		return errs.New(errs.AnswerInvalid, "the answer is not UTF-8").With("task", id).WithHint("write it in UTF-8")
	case len(answer.Text) > flow.MaxAnswer:
		return errs.New(errs.AnswerInvalid, "the answer has more than %d bytes", flow.MaxAnswer).With("task", id).WithHint("shorten the answer")
	}
	answer.Question, answer.By = q.Fingerprint, cli.UserName()
	if err := c.SignalWorkflow(ctx, flow.WorkflowID(project, id), "", flow.SignalAnswer, answer); err != nil {
		return serverError(ctx, err)
	}
	return a.showSent(id, "answered")
}

// showSent prints the kind of the signal that was sent to a task.
func (a *app) showSent(id, kind string) error {
	return cli.Show(&a.Program, render.FleetSent{TaskID: id, Sent: kind}, nil, func(p *render.Printer, s render.FleetSent) { p.Line("%s  %s", s.TaskID, s.Sent) })
}
