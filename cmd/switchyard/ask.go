package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// ask asks a question on w and reads the answer, a line of in: the number of a choice,
// another text, or nothing for the default. It returns nil, which leaves the question
// open, at the end of the input, once ctx is done, and when the question expires and its
// default applies.
func ask(ctx context.Context, in *lineReader, w io.Writer, q task.Question) *api.AnswerRequest {
	if until, err := time.Parse(time.RFC3339Nano, q.ExpiresAt); err == nil && q.Default != "" {
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
		line, err := in.read(ctx)
		text := strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
		if err != nil && text == "" {
			fmt.Fprintln(w)
			if errors.Is(err, context.DeadlineExceeded) {
				fmt.Fprintln(w, "the time is over: the default applies")
			}
			return nil
		}
		if text == "" && q.Default != "" {
			if n := slices.Index(q.Choices, q.Default) + 1; n > 0 {
				return &api.AnswerRequest{Choice: n}
			}
			return &api.AnswerRequest{Text: q.Default}
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			n = slices.Index(q.Choices, text) + 1
		}
		switch {
		case text == "":
			fmt.Fprintln(w, "an answer is needed: there is no default")
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

// lineReader reads the lines that a user types.
type lineReader struct {
	in *bufio.Reader
	// reading is a read that has not ended, or nil. It cannot be cancelled.
	reading chan typedLine
}

type typedLine struct {
	text string
	err  error
}

func newLineReader(in io.Reader) *lineReader { return &lineReader{in: bufio.NewReader(in)} }

// read returns the next line. Once ctx is done it returns the cause, and the next call returns
// the line.
func (r *lineReader) read(ctx context.Context) (string, error) {
	if r.reading == nil {
		done := make(chan typedLine, 1)
		r.reading = done
		go func() {
			text, err := r.in.ReadString('\n')
			done <- typedLine{text, err}
		}()
	}
	select {
	case line := <-r.reading:
		r.reading = nil
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
