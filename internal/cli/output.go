package cli

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// Show prints the result of a command, as JSON or with text for a person, unless the
// command failed with err.
func Show[T any](p *Program, result T, err error, text func(*render.Printer, T)) error {
	if err != nil {
		return err
	}
	return p.Write(func(w io.Writer) error {
		if p.Output == OutputJSON {
			return render.JSON(w, result)
		}
		text(render.New(w, p.Out), result)
		return nil
	})
}

// PrintText prints a result that already is text, byte for byte.
func (p *Program) PrintText(text string) error {
	return p.Write(func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Write runs do on standard output and reports the error.
func (p *Program) Write(do func(io.Writer) error) error {
	w := bufio.NewWriterSize(p.Out, 64<<10)
	err := do(w)
	// Flush returns the error of an earlier write again.
	if failed := w.Flush(); failed != nil && errs.CodeOf(err) == "" {
		err = failed
	}
	if err != nil && errs.CodeOf(err) == "" {
		err = errs.New(errs.OutputFailed, "failed to write the result: %w", err)
	}
	return err
}

// PrintError writes an error to standard error, in the format that the command line
// selects.
func (p *Program) PrintError(err error, args []string) {
	e := Typed(err)
	e.Hint = p.completeHint(e.Hint)
	// A failure to write to standard error cannot be reported.
	switch {
	case p.Output == OutputJSON || !p.Parsed && WantsJSON(args):
		_ = render.JSON(p.Err, map[string]any{"error": e})
	case p.BareErrors:
		_ = render.JSON(p.Err, e)
	default:
		render.New(p.Err, p.Err).Error(p.name, e)
	}
}

// Typed returns an error in the form that users see: with its whole message, and the hint of
// its code.
func Typed(err error) *errs.Error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		f = errs.New(errs.Internal, "%w", err)
	}
	e := f.WithHint(cmp.Or(f.Hint, render.HintFor(f.Code)))
	e.Message = err.Error()
	return e
}

// WantsJSON reports whether an invalid command line selects JSON. pflag stops at the
// first flag that it does not know, which can precede --output or --format.
func WantsJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--output=json", arg == "--format=json":
			return true
		case (arg == "--output" || arg == "--format") && i+1 < len(args) && args[i+1] == "json":
			return true
		}
	}
	return false
}

// completeHint replaces COMMAND and TASK in a hint with the command and the task of the
// command line.
func (p *Program) completeHint(hint string) string {
	switch {
	case p.command != "":
		hint = strings.ReplaceAll(hint, "help COMMAND", "help "+p.command)
	case p.isSingle:
		hint = strings.ReplaceAll(hint, "switchyard help COMMAND", p.name+" --help")
	default:
		hint = strings.ReplaceAll(hint, "switchyard help COMMAND shows what it takes", "switchyard help lists the commands")
	}
	hint = strings.ReplaceAll(hint, "switchyard help", p.name+" help")
	if p.task != "" {
		hint = regexp.MustCompile(`\bTASK\b`).ReplaceAllLiteralString(hint, p.task)
	}
	return hint
}
