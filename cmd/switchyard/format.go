package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/findingformat"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// formatVar adds --format, which before the command runs becomes the output format.
func (a *app) formatVar(cmd *cobra.Command) {
	flags, format := cmd.Flags(), cli.OutputText
	words := []cli.OutputFormat{cli.OutputText, cli.OutputJSON}
	for _, name := range findingformat.Names() {
		words = append(words, cli.OutputFormat(name))
	}
	cli.ChoiceVar(flags, &format, "format", "print the findings in `FORMAT`: text, json, "+strings.Join(findingformat.Names(), ", "), words...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !flags.Changed("format") {
			return nil
		}
		if flags.Changed("output") && a.Output != format {
			return cli.Usagef("--output %s and --format %s exclude each other; give one", a.Output, format)
		}
		a.Output = format
		return nil
	}
}

// showFindings is cli.Show for a command with --format.
func showFindings[T any](a *app, result T, err error, text func(*render.Printer, T), review func(T) findingformat.Review) error {
	write := findingformat.Find(string(a.Output))
	if write == nil || err != nil {
		return cli.Show(&a.Program, result, err, text)
	}
	return a.Write(func(w io.Writer) error {
		r := review(result)
		r.Version = buildinfo.Read().Version
		return write(w, r)
	})
}

// listedReview converts a task's list of findings for other tools.
func listedReview(l api.FindingList) findingformat.Review {
	r := findingformat.Review{TaskID: l.TaskID, Round: l.Round, Bar: string(l.Bar), Deferred: l.Deferred, Findings: make([]finding.Finding, len(l.Findings))}
	for i, f := range l.Findings {
		r.Findings[i] = f.Finding
	}
	return r
}

// decidedReview converts the open findings of a decision for other tools.
func decidedReview(d host.Decision) findingformat.Review {
	return findingformat.Review{TaskID: d.TaskID, Round: d.Round, Bar: string(d.Bar), Findings: d.Findings}
}
