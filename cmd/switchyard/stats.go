package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/stats"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newStatsCmd(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Summarize all tasks",
		Long: `Stats summarizes all tasks of the project, including committed ones: how many rounds
they took, where they went, what critics found, what agents cost and how often they
fell back, how long questions waited, and which tasks need a person. JSON and the
page also have every day, and JSON has every task that needs a person. A bar is as
long as its share of the whole.

With --html it writes one self-contained page without scripts instead. It replaces an
older page of stats atomically, and refuses to replace any other file.`,
		Example: `  switchyard stats
  switchyard stats --output json | jq '.standing[].task'
  switchyard stats --html review-loop.html`,
		Args: cli.NoArgs,
	}
	cli.TextVar(cmd.Flags(), &file, "html", "write a page to `FILE`, - for standard output")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if file != "" {
			return a.statsPage(ctx, e, file)
		}
		read := stats.Summary
		if a.Output == cli.OutputJSON {
			read = stats.Of
		}
		numbers, err := numbersOf(ctx, e, read)
		return cli.Show(&a.Program, numbers, err, (*render.Printer).Stats)
	})
	return cmd
}

// numbersOf reads the statistics. For the first tasks of the list it adds the critic
// failure that stopped them, if any.
func numbersOf(ctx context.Context, e *host.Engine, read func(context.Context, stats.Source) (stats.Stats, error)) (stats.Stats, error) {
	numbers, err := read(ctx, e)
	if err != nil {
		return stats.Stats{}, err
	}
	first := numbers.Standing[:min(len(numbers.Standing), stats.MaxStanding)]
	ids := make([]string, len(first))
	for i, t := range first {
		ids[i] = t.Task
	}
	failures, err := e.CriticFailures(ctx, ids)
	for i, t := range first {
		if reason := failures[t.Task]; reason != "" {
			first[i].Why = "critic-error: " + reason
		}
	}
	return numbers, err
}

// writtenPage is the result of --html.
type writtenPage struct {
	File string `json:"file"`
	// Size is the size of the page in bytes.
	Size   int   `json:"size"`
	Events int64 `json:"events"`
}

func (a *app) statsPage(ctx context.Context, e *host.Engine, file string) error {
	if file != api.Stdin {
		if err := checkPage(a.project, file, "stats"); err != nil {
			return err // Fail before any work.
		}
	}
	numbers, err := numbersOf(ctx, e, stats.Of)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := numbers.HTML(&text, a.aboutPage()); err != nil {
		return err
	}
	if file == api.Stdin {
		return a.PrintText(text.String())
	}
	written := writtenPage{File: file, Size: text.Len(), Events: numbers.Ledger.Events}
	return cli.Show(&a.Program, written, writeFile(a.project, file, text.Bytes()), func(p *render.Printer, w writtenPage) {
		p.Line("wrote %s, %s of %s", w.File, render.Size(int64(w.Size)), textutil.Count(w.Events, "event"))
	})
}

func (a *app) aboutPage() stats.Page {
	return stats.Page{Project: filepath.Base(a.project.Root), Now: time.Now(), Version: buildinfo.Read().Version}
}

// checkPage returns an error if writing would replace a file that is not a page of the
// command.
//
// # Errors
//
// page-foreign, and file-unwritable if the file cannot be read.
func checkPage(p project.Project, path, command string) error {
	marker := stats.Marker(command)
	start, err := startOf(p, path, len(marker))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // If the directory is missing, writeFile reports it.
	case err != nil:
		return errs.New(errs.FileUnwritable, "%s cannot be written: %w", path, safefile.Reason(err)).With("path", path)
	case start != marker:
		return errs.New(errs.PageForeign, "%s exists already and is not a page of %s", path, command).With("path", path)
	}
	return nil
}

// startOf returns the first n bytes of a regular file that the user named.
func startOf(p project.Project, path string, n int) (string, error) {
	root, name, err := openParent(p, path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := safefile.OpenFile(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(n)))
	return string(text), err
}
