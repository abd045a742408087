package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/await"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// ask asks a question on w and reads the answer, a line of in: the number of a choice,
// another text, or nothing for the default. It returns nil, which leaves the question
// open, at the end of the input, once ctx is done, and when the question expires.
func ask(ctx context.Context, in *bufio.Reader, w io.Writer, q task.Question) *api.AnswerRequest {
	if until, err := time.Parse(time.RFC3339Nano, q.ExpiresAt); err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	render.New(w, w).Question(q)
	prompt := "your answer"
	if len(q.Choices) > 0 {
		prompt = fmt.Sprintf("your answer, 1 to %d or a text", len(q.Choices))
	}
	if q.Default != "" {
		prompt += ", or nothing for the default"
	}
	for {
		fmt.Fprintf(w, "%s: ", prompt)
		line, err := await.Result(ctx, func() (string, error) { return in.ReadString('\n') })
		text := strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
		if err != nil && text == "" {
			fmt.Fprintln(w)
			return nil
		}
		if text == "" {
			text = q.Default
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			n = slices.Index(q.Choices, text) + 1
		}
		switch {
		case text == "":
		case n > 0 && n <= len(q.Choices):
			return &api.AnswerRequest{Choice: n}
		case err == nil && len(text) == 1 && len(q.Choices) > 0 && q.Budget == "":
			// A longer number is more likely an answer than a mistyped choice.
			fmt.Fprintf(w, "there is no choice %d\n", n)
		default:
			return &api.AnswerRequest{Text: text}
		}
	}
}
