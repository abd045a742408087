package main

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// print writes a command's result to standard output: value as JSON, or what
// text lays out for a person.
func (a *app) print(value any, text func(*render.Printer)) error {
	w := bufio.NewWriterSize(a.out, 64<<10)
	var err error
	if a.output == outputJSON {
		err = render.JSON(w, value)
	} else {
		text(render.New(w, a.out))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		return errs.New(errs.OutputFailed, "write the result: %w", err)
	}
	return nil
}

// printError writes an error to standard error, in the format that the command
// line asks for; args serves where it was too wrong for the flags to be read.
func (a *app) printError(err error, args []string) {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		f = errs.New(errs.Internal, "%w", err)
	}
	hint := f.Hint
	if hint == "" {
		hint = hintFor(f.Code)
	}
	hint = a.concrete(hint)
	wrapped := a.output == outputJSON || !a.running && wantsJSON(args)
	if wrapped || a.bareErrors {
		shown := errorJSON{Code: string(f.Code), Message: err.Error(), Hint: hint, Details: f.Details}
		if shown.Details == nil {
			shown.Details = map[string]any{}
		}
		// There is nowhere to report that standard error cannot be written.
		if wrapped {
			_ = render.JSON(a.err, map[string]any{"error": shown})
		} else {
			_ = render.JSON(a.err, shown)
		}
		return
	}
	fmt.Fprintf(a.err, "switchyard: error: %s [%s]\n", render.Clean(err.Error()), f.Code)
	if path, ok := f.Details["report"].(string); ok {
		if ref, ok := f.Details["ref"].(string); ok && ref != "" {
			path += ", at " + ref
		}
		fmt.Fprintf(a.err, "report: %s\n", render.Clean(path))
	}
	if plugin := pluginOf(f); plugin != "" {
		fmt.Fprintf(a.err, "plugin: %s\n", render.Clean(plugin))
	}
	for _, line := range problems(f.Details) {
		fmt.Fprintf(a.err, "  %s\n", line)
	}
	if hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", render.Clean(hint))
	}
}

// concrete puts the command and the task of the command line into a hint.
func (a *app) concrete(hint string) string {
	if a.command == "" {
		hint = strings.ReplaceAll(hint, "switchyard help COMMAND shows what it takes", "switchyard help lists the commands")
	} else {
		hint = strings.ReplaceAll(hint, "help COMMAND", "help "+a.command)
	}
	if a.task != "" {
		hint = regexp.MustCompile(`\bTASK\b`).ReplaceAllLiteralString(hint, a.task)
	}
	return hint
}

// pluginOf says which plugin an error is about, where its message does not.
func pluginOf(f *errs.Error) string {
	if plugin, ok := f.Details["plugin"].(string); ok {
		return plugin
	}
	path, ok := f.Details["path"].(string)
	if !ok || !strings.HasPrefix(string(f.Code), "plugin-") || strings.Contains(f.Message, path) {
		return ""
	}
	return path
}

// maxProblems is how many of an error's problems are shown as text; JSON has all.
const maxProblems = 10

// problems lists in words what an error's details list under that name, where
// the message alone does not say it.
func problems(details map[string]any) []string {
	var lines []string
	count := 0
	switch list := details["problems"].(type) {
	case []routing.Problem:
		count = len(list)
		for i, p := range list[:min(count, maxProblems)] {
			if i > 0 { // The message has the first.
				lines = append(lines, render.Clean(p.String()))
			}
			lines = append(lines, pointed(p)...)
		}
	case []string:
		if len(list) == 1 {
			return nil // The message has it.
		}
		for _, p := range list {
			lines = append(lines, render.Clean(p))
		}
	case []ledger.Problem:
		count = len(list)
		for _, p := range list[:min(count, maxProblems)] {
			lines = append(lines, render.Clean(p.String()))
		}
	}
	if count > maxProblems {
		lines = append(lines, fmt.Sprintf("and %d more", count-maxProblems))
	}
	return lines
}

// pointed shows the line of a policy that a problem is in, and a caret below it.
func pointed(p routing.Problem) []string {
	if p.Source == "" || p.Col < 1 || p.Col > len(p.Source)+1 {
		return nil
	}
	before := strings.ReplaceAll(p.Source[:p.Col-1], "\t", "    ")
	line := render.Clean(strings.ReplaceAll(p.Source, "\t", "    "))
	return []string{"  | " + line, "  | " + strings.Repeat(" ", utf8.RuneCountInString(render.Clean(before))) + "^"}
}

// errorJSON is the shape of every error (design section 6).
type errorJSON struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint"`
	Details map[string]any `json:"details"`
}

func wantsJSON(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool { return s == "--output=json" }) ||
		strings.Contains("\x00"+strings.Join(args, "\x00")+"\x00", "\x00--output\x00json\x00")
}
