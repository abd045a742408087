package render

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/docs"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Error prints an error of a program, its location, and its hint.
func (p *Printer) Error(program string, e *errs.Error) {
	p.Line("%s: error: %s [%s]", program, e.Message, e.Code)
	if path, ok := e.Details["report"].(string); ok {
		if ref, ok := e.Details["ref"].(string); ok && ref != "" {
			path += ", at " + ref
		}
		p.Line("report: %s", path)
	}
	plugin := pluginOf(e)
	p.lineIf(plugin != "", "plugin: %s", plugin)
	for _, line := range problemsOf(e) {
		p.Line("  %s", line)
	}
	p.lineIf(e.Hint != "", "hint: %s", e.Hint)
}

// HintFor returns the hint of docs/errors.md for a code, or "".
func HintFor(code errs.Code) string {
	_, row, _ := strings.Cut(docs.Errors, "\n| `"+string(code)+"` | ")
	row, _, _ = strings.Cut(row, "\n")
	_, hint, _ := strings.Cut(row, " | ")
	return strings.TrimRight(hint, " |\r")
}

// hintOfProblem prints the hint of a problem that a list names with its code.
func (p *Printer) hintOfProblem(code errs.Code) {
	hint := HintFor(code)
	p.lineIf(hint != "", "  hint: %s", hint)
}

// pluginOf returns the plugin that an error is about, or "" if the message names it.
func pluginOf(e *errs.Error) string {
	if plugin, ok := e.Details["plugin"].(string); ok {
		return plugin
	}
	path, _ := e.Details["path"].(string)
	if !strings.HasPrefix(string(e.Code), "plugin-") || strings.Contains(e.Message, path) {
		return ""
	}
	return path
}

// maxProblems is the number of a policy's problems that are shown; JSON has all.
const maxProblems = 10

// problemsOf returns the problems in the details that the message does not have.
func problemsOf(e *errs.Error) []styledText {
	var lines []styledText
	add := func(s string) { lines = append(lines, styledText(s)) }
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
	line := []rune(p.Source) // Col counts characters.
	if len(line) == 0 || p.Col < 1 || p.Col > len(line)+1 {
		return nil
	}
	indented := strings.NewReplacer("\t", "    ")
	before := textutil.Line(indented.Replace(string(line[:p.Col-1])))
	return []string{"  | " + textutil.Line(indented.Replace(p.Source)), "  | " + strings.Repeat(" ", columns(before)) + "^"}
}
