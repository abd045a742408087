package main

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/docs"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// show prints the result of a command, as JSON or with text for a person, unless the
// command failed with err.
func show[T any](a *app, result T, err error, text func(*render.Printer, T)) error {
	if err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.output == outputJSON {
			return render.JSON(w, result)
		}
		text(render.New(w, a.out), result)
		return nil
	})
}

// showCheck prints the whole result of a check and returns failure, which is nil if the
// check passed. Each command that checks something ends with it.
func showCheck[T any](a *app, result T, failure error, text func(*render.Printer, T)) error {
	return cmp.Or(show(a, result, nil, text), failure)
}

// showTask prints a task's new state.
func (a *app) showTask(result host.TaskResult, err error) error {
	return show(a, result, err, (*render.Printer).TaskResult)
}

// printText prints a result that already is text, byte for byte.
func (a *app) printText(text string) error {
	return a.write(func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// write runs do on standard output and reports the error.
func (a *app) write(do func(io.Writer) error) error {
	w := bufio.NewWriterSize(a.out, 64<<10)
	err := errors.Join(do(w), w.Flush())
	if err != nil && errs.CodeOf(err) == "" {
		err = errs.New(errs.OutputFailed, "failed to write the result: %w", err)
	}
	return err
}

// offerMarkdown lets a command accept --output markdown.
func (a *app) offerMarkdown(cmd *cobra.Command) {
	choiceVar(cmd.Flags(), &a.output, "output", "print `FORMAT`: text, json or markdown", outputText, outputJSON, outputMarkdown)
}

// printError writes an error to standard error, in the format that the command line
// selects.
func (a *app) printError(err error, args []string) {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		f = errs.New(errs.Internal, "%w", err)
	}
	hint := f.Hint
	if hint == "" {
		hint = hintFor(f.Code)
	}
	e := render.NewError(f, err.Error(), a.specific(hint))
	// A failure to write to standard error cannot be reported.
	switch {
	case a.output == outputJSON || !a.parsed && wantsJSON(args):
		_ = render.JSON(a.err, map[string]any{"error": e})
	case a.compatErrors:
		_ = render.JSON(a.err, e)
	default:
		render.New(a.err, a.err).Error(e)
	}
}

// hintFor returns the hint of docs/errors.md for a code, or "" if it has none.
func hintFor(code errs.Code) string {
	_, row, _ := strings.Cut(docs.Errors, "\n| `"+string(code)+"` | ")
	row, _, _ = strings.Cut(row, "\n")
	_, hint, _ := strings.Cut(row, " | ")
	return strings.TrimRight(hint, " |\r")
}

// wantsJSON reports whether an invalid command line selects JSON. pflag stops at the
// first flag that it does not know, which can precede --output.
func wantsJSON(args []string) bool {
	i := slices.Index(args, "--output")
	return slices.Contains(args, "--output=json") || i >= 0 && i+1 < len(args) && args[i+1] == "json"
}

// specific replaces COMMAND and TASK in a hint with those of the command line.
func (a *app) specific(hint string) string {
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

// writeFile atomically writes a file that the user named: a reader sees either the old
// content or the new one. A path inside the project is written through the project's
// root, so that no symbolic link leads out of it. It replaces only regular files, and
// creates no directory.
//
// # Errors
//
// file-unwritable.
func writeFile(p project.Project, path string, data []byte) error {
	dir, name := filepath.Split(p.Abs(path))
	if rel, inside := p.Rel(path); inside {
		dir, name = p.Root, filepath.FromSlash(rel)
	}
	if err := replaceFile(dir, name, data); err != nil {
		return errs.New(errs.FileUnwritable, "%s cannot be written: %w", path, safefile.Reason(err)).With("path", path)
	}
	return nil
}

func replaceFile(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	switch info, err := root.Lstat(name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !info.Mode().IsRegular():
		return safefile.ErrNotRegular
	}
	return safefile.Replace(root, filepath.ToSlash(name), data, 0o644)
}
