package main

import (
	"bytes"
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func TestAsk(t *testing.T) {
	chosen := func(n int) *api.AnswerRequest { return &api.AnswerRequest{Choice: n} }
	free := func(text string) *api.AnswerRequest { return &api.AnswerRequest{Text: text} }
	plain := task.Question{Fingerprint: "f", Text: "Which \x1b[2Jport?"}
	choices := task.Question{Fingerprint: "f", Text: "Which port?", Choices: []string{"80", "the one of the proxy"}}
	withDefault := choices
	withDefault.Default = "the one of the proxy"
	numbers := task.Question{Fingerprint: "f", Text: "How often?", Choices: []string{"3", "5", "10"}, Default: "3"}
	otherDefault := numbers
	otherDefault.Default = "2"
	budget := task.Question{Fingerprint: "f", Text: "Raise it?", Choices: []string{"raise by 10 tokens", "stop"}, Budget: "task-tokens"}
	for name, c := range map[string]struct {
		q     task.Question
		typed string
		want  *api.AnswerRequest
		says  string
	}{
		"text":                {plain, " 8080 \n", free("8080"), "Which <U+001B>[2Jport?"},
		"nothing, then text":  {plain, "\n\nno\n", free("no"), "your answer: an answer is needed: there is no default\nyour answer: an answer is needed: there is no default\nyour answer: "},
		"end of input":        {plain, "", nil, "your answer: \n"},
		"text and the end":    {plain, "yes", free("yes"), ""},
		"no UTF-8":            {plain, "a\xff\n", free("a\ufffd"), ""},
		"choice":              {choices, "2\n", chosen(2), "  2  the one of the proxy\nyour answer, 1 to 2 or a text: "},
		"choice by its text":  {choices, "the one of the proxy\n", chosen(2), ""},
		"not a choice":        {choices, "3\n0\n1\n", chosen(1), "there is no choice 3\n"},
		"number for choices":  {choices, "8080\n", free("8080"), ""},
		"text for choices":    {choices, "neither\n", free("neither"), ""},
		"no default":          {choices, "\n", nil, ""},
		"default":             {withDefault, "\n", chosen(2), "default: the one of the proxy\nyour answer, 1 to 2 or a text, or nothing for the default: "},
		"default of numbers":  {numbers, "\n", chosen(1), ""},
		"choice of numbers":   {numbers, "3\n", chosen(3), ""},
		"default, no choice":  {otherDefault, "\n", free("2"), ""},
		"amount":              {budget, "500\n", free("500"), ""},
		"choice of an amount": {budget, "2\n", chosen(2), ""},
	} {
		var out bytes.Buffer
		got := ask(t.Context(), newLineReader(strings.NewReader(c.typed)), &out, c.q)
		if !reflect.DeepEqual(got, c.want) || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: got %+v, want %+v, after\n%s", name, got, c.want, out.String())
		}
	}
}

// TestAskEnds checks that ask ends when a default applies, which leaves the next question its
// line, and when the command is interrupted.
func TestAskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typist := io.Pipe()
		defer typist.Close()
		lines := newLineReader(in)
		start := time.Now()
		q := task.Question{Fingerprint: "f", Text: "Which port?", Default: "80", ExpiresAt: start.Add(time.Hour).UTC().Format(time.RFC3339Nano)}
		var out bytes.Buffer
		if got := ask(t.Context(), lines, &out, q); got != nil || time.Since(start) != time.Hour || !strings.HasSuffix(out.String(), "\nthe time is over: the default applies\n") {
			t.Errorf("got %+v after %s and\n%s", got, time.Since(start), out.String())
		}
		time.AfterFunc(time.Hour, func() { io.WriteString(typist, "8080\n") })
		q.Default = ""
		if got := ask(t.Context(), lines, io.Discard, q); got == nil || got.Text != "8080" {
			t.Errorf("without a default, got %+v after %s", got, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := ask(ctx, lines, io.Discard, q); got != nil {
			t.Errorf("got %+v", got)
		}
	})
}
