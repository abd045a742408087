package task

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// MaxAnswer is the maximum size of an answer, in bytes.
const MaxAnswer = 64 << 10

// Question is a question to the user.
type Question struct {
	Fingerprint string `json:"fingerprint"`
	Text        string `json:"text"`
	// Choices are suggested answers; any other text is accepted too.
	Choices []string `json:"choices,omitzero"`
	// Default is the answer that applies after ExpiresAt, or "".
	Default string `json:"default,omitzero"`
	// ExpiresAt is a time in the format of ExpireQuestions.Now, or "".
	ExpiresAt string `json:"expires_at,omitzero"`
	// Budget is the unit of budget-exhausted, such as task-tokens, if the question is
	// whether to raise this budget.
	Budget string `json:"budget,omitzero"`
	// Churn is set if the question is how to end a loop in which fixes cause findings.
	Churn bool `json:"churn,omitzero"`
}

// Questions are the questions of one decision, with the answers so far.
type Questions struct {
	// Round is the round that asked.
	Round   int        `json:"round"`
	Open    []Question `json:"open"`
	Answers []Answer   `json:"answers,omitzero"`
	// Inserted is set if no decision asked them: after the answers, the work continues with
	// the same step.
	Inserted bool `json:"inserted,omitzero"`
}

// Answer is an answer of the user.
type Answer struct {
	Fingerprint string `json:"fingerprint"`
	// Question is the text of the question.
	Question string `json:"question,omitzero"`
	Text     string `json:"text"`
	// Choice counts the question's choices from 1; 0 for a free text.
	Choice int    `json:"choice,omitzero"`
	By     string `json:"by"`
	// Default is set if the question expired and its default applies.
	Default bool `json:"default,omitzero"`
}

// AnswerQuestion answers a question of a waiting task. Repeating the same answer has no
// effect.
type AnswerQuestion struct {
	// Round is the round of the question, 0 for the latest.
	Round int
	// Fingerprint identifies the question; "" if there is only one.
	Fingerprint string
	// Choice counts the question's choices from 1; 0 if Text is the answer.
	Choice int
	Text   string
	By     string
}

func (c AnswerQuestion) decide(s State) (Event, error) {
	q := s.Questions
	if s.Status == NoTask || q == nil && c.Round == 0 {
		return nil, checkAllowed(s, KindAnswered)
	}
	if q == nil || c.Round != 0 && c.Round != q.Round {
		return nil, errs.New(errs.QuestionStale, "round %d has no open question any more, or never had one; the task is %s, in round %d", c.Round, s.Status, s.Round).
			With("round", s.Round)
	}
	if c.Fingerprint == "" {
		switch {
		case len(q.Open) == 1:
			c.Fingerprint = q.Open[0].Fingerprint
		case len(q.Open) > 1:
			return nil, q.unknown("the task has %d questions; say which is answered", len(q.Open))
		case len(q.Answers) == 1:
			c.Fingerprint = q.Answers[0].Fingerprint
		default:
			return nil, checkAllowed(s, KindAnswered)
		}
	}
	for _, a := range q.Answers {
		if a.Fingerprint != c.Fingerprint {
			continue
		}
		if c.Choice == 0 && a.Text == c.Text || c.Choice != 0 && a.Choice == c.Choice {
			return nil, nil
		}
		return nil, errs.New(errs.QuestionAnswered, "question %s was answered by %s", a.Fingerprint, a.By).With("answer", a.Text)
	}
	for _, open := range q.Open {
		if open.Fingerprint != c.Fingerprint {
			continue
		}
		if err := checkAllowed(s, KindAnswered); err != nil {
			return nil, err
		}
		text, err := open.accept(c)
		if err != nil {
			return nil, err
		}
		return QuestionsAnswered{Round: q.Round, Answers: []Answer{{Fingerprint: open.Fingerprint, Question: open.Text, Text: text, Choice: open.choice(text), By: c.By}}}, nil
	}
	return nil, q.unknown("the task has no question %s", c.Fingerprint)
}

func (q *Questions) unknown(format string, args ...any) error {
	open := make([]string, 0, len(q.Open))
	for _, o := range q.Open {
		open = append(open, o.Fingerprint)
	}
	return errs.New(errs.QuestionUnknown, format, args...).With("questions", open)
}

func (q Question) accept(c AnswerQuestion) (string, error) {
	switch {
	case c.Choice != 0 && len(q.Choices) == 0:
		return "", q.invalid("it has no choices: answer with a text")
	case c.Choice != 0:
		if c.Choice < 1 || c.Choice > len(q.Choices) {
			return "", q.invalid("there are %d choices, and no choice %d", len(q.Choices), c.Choice)
		}
		return q.Choices[c.Choice-1], nil
	case !utf8.ValidString(c.Text):
		return "", q.invalid("the answer is not UTF-8")
	case c.Text == "":
		return "", q.invalid("the answer is empty")
	case len(c.Text) > MaxAnswer:
		return "", q.invalid("the answer has %d bytes, more than %d", len(c.Text), MaxAnswer)
	}
	if rounds, asked := parseGoOn(c.Text); q.Churn && asked && rounds == 0 {
		return "", q.invalid("%q is no answer: the number of rounds must be from 1 to %d, as in %q", textutil.Clip(c.Text, 64), MaxRounds, choiceGoOn)
	}
	if _, ok := parseRaise(q.Budget, c.Text); q.Budget != "" && !ok {
		example := append(slices.Clip(q.Choices), choiceStop)[0] // An edited state may have no choices.
		return "", q.invalid("%q is neither stop nor an amount of %s, such as %q", textutil.Clip(c.Text, 64), unitOf(q.Budget), example)
	}
	return c.Text, nil
}

// choice returns the number of the choice with the text, from 1, or 0, so that an answer is
// recorded in one form, whether it was given by number or by text.
func (q Question) choice(text string) int { return slices.Index(q.Choices, text) + 1 }

func (q Question) invalid(format string, args ...any) error {
	return errs.New(errs.AnswerInvalid, "question %s: %s", q.Fingerprint, fmt.Sprintf(format, args...)).With("choices", q.Choices)
}

// ExpireQuestions applies the defaults of expired questions.
type ExpireQuestions struct {
	// Now is the time in RFC 3339, in UTC and with nanoseconds: such texts sort like times.
	Now string
}

func (c ExpireQuestions) decide(s State) (Event, error) {
	if s.Status != Waiting {
		return nil, nil
	}
	e := QuestionsAnswered{Round: s.Questions.Round}
	for _, q := range s.Questions.Open {
		if q.Default != "" && q.ExpiresAt != "" && q.ExpiresAt <= c.Now {
			e.Answers = append(e.Answers, Answer{Fingerprint: q.Fingerprint, Question: q.Text, Text: q.Default, Choice: q.choice(q.Default), By: "expiry", Default: true})
		}
	}
	if len(e.Answers) == 0 {
		return nil, nil
	}
	return e, nil
}
