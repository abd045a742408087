package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Error is the JSON form of an error.
type Error struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint"`
	Details map[string]any `json:"details"`
}

// NewError returns an error with a code, its whole message and a hint.
func NewError(f *errs.Error, message, hint string) Error {
	e := Error{Code: string(f.Code), Message: message, Hint: hint, Details: f.Details}
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	return e
}

// Error prints an error, its location, and its hint.
func (p *Printer) Error(e Error) {
	p.Line("switchyard: error: %s [%s]", e.Message, e.Code)
	if path, ok := e.Details["report"].(string); ok {
		if ref, ok := e.Details["ref"].(string); ok && ref != "" {
			path += ", at " + ref
		}
		p.Line("report: %s", path)
	}
	if plugin := e.plugin(); plugin != "" {
		p.Line("plugin: %s", plugin)
	}
	for _, line := range e.problems() {
		p.Line("  %s", line)
	}
	p.lineIf(e.Hint != "", "hint: %s", e.Hint)
}

// plugin returns the plugin that an error is about, or "" if the message names it.
func (e Error) plugin() string {
	if plugin, ok := e.Details["plugin"].(string); ok {
		return plugin
	}
	path, _ := e.Details["path"].(string)
	if !strings.HasPrefix(e.Code, "plugin-") || strings.Contains(e.Message, path) {
		return ""
	}
	return path
}

// maxProblems is the number of a policy's problems that are shown; JSON has all.
const maxProblems = 10

// problems returns the problems in the details that the message does not have.
func (e Error) problems() []painted {
	var lines []painted
	add := func(s string) { lines = append(lines, painted(s)) }
	switch list := e.Details["problems"].(type) {
	case []routing.Problem:
		for i, p := range list[:min(len(list), maxProblems)] {
			if i > 0 { // The message has the first.
				add(textutil.Line(p.String()))
			}
			for _, line := range sourceLines(p) {
				add(line)
			}
		}
		if n := len(list) - maxProblems; n > 0 {
			add(fmt.Sprintf("and %d more", n))
		}
	case []string:
		if len(list) > 1 { // The message has a single one.
			for _, p := range list {
				add(textutil.Line(p))
			}
		}
	}
	return lines
}

// sourceLines returns the policy's line with a problem, and a caret below it.
func sourceLines(p routing.Problem) []string {
	if p.Source == "" || p.Col < 1 || p.Col > len(p.Source)+1 {
		return nil
	}
	indented := strings.NewReplacer("\t", "    ")
	before := textutil.Line(indented.Replace(p.Source[:p.Col-1]))
	return []string{"  | " + textutil.Line(indented.Replace(p.Source)), "  | " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"}
}
