// Package plan reads the answer of a plan-checker: a revised plan, or a question to the
// user. It is pure.
package plan

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/jsonscan"
	"github.com/switchyard-dev/switchyard/internal/redact"
)

// The limits of an answer, in bytes except for maxChoices.
const (
	maxPlan     = 256 << 10
	maxQuestion = 4 << 10
	maxChoices  = 10
	maxChoice   = 200
)

// Answer is a plan-checker's answer: a plan or a question, never both. Its texts are foreign.
// Plan and Question are trimmed.
type Answer struct {
	// Plan is the whole revised plan in Markdown, "" for a question.
	Plan string `json:"plan"`
	// Question is for the user, "" if there is a plan. Default is one of Choices if there are
	// any; both may be empty.
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
	Default  string   `json:"default"`
}

// Parse parses the answer in a plan-checker's final message: an object with the member plan or
// question, alone, in a code fence or in prose. It may be repeated, but two different answers
// are invalid. Other members, such as a summary, are ignored. Secrets are removed.
//
// # Errors
//
// plan-output-invalid. The message never quotes the answer.
func Parse(text string) (Answer, error) {
	object, err := jsonscan.One(text, "plan", "question")
	if err != nil {
		return Answer{}, invalid("%w", err)
	}
	var a Answer
	if err := json.Unmarshal(object, &a, redact.Strings()); err != nil {
		return Answer{}, invalid("the answer has a key twice, is not UTF-8, or has a value of the wrong type").Because(err)
	}
	a.Plan, a.Question = strings.TrimSpace(a.Plan), strings.TrimSpace(a.Question)
	switch {
	case (a.Plan == "") == (a.Question == ""):
		return Answer{}, invalid("the answer must have either a plan or a question")
	case len(a.Plan) > maxPlan:
		return Answer{}, invalid("the plan has more than %d bytes", maxPlan)
	case len(a.Question) > maxQuestion:
		return Answer{}, invalid("the question has more than %d bytes", maxQuestion)
	case len(a.Choices) > maxChoices:
		return Answer{}, invalid("the question has more than %d choices", maxChoices)
	case slices.ContainsFunc(append(slices.Clone(a.Choices), a.Default), func(choice string) bool { return len(choice) > maxChoice }):
		return Answer{}, invalid("a choice or the default has more than %d bytes", maxChoice)
	case slices.ContainsFunc(a.Choices, func(choice string) bool { return strings.TrimSpace(choice) == "" }):
		return Answer{}, invalid("a choice is empty")
	case a.Default != "" && len(a.Choices) > 0 && !slices.Contains(a.Choices, a.Default):
		return Answer{}, invalid("the default is not one of the choices")
	}
	return a, nil
}

func invalid(format string, args ...any) *errs.Error {
	return errs.New(errs.PlanOutputInvalid, format, args...)
}
