package main

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newLedgerCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "ledger",
		Short: "Check, export, compact and archive the record of all decisions",
	}, newLedgerVerifyCmd(a), newLedgerExportCmd(a), newLedgerProveCmd(a), newLedgerCompactCmd(a), newLedgerArchiveCmd(a))
}

func newLedgerVerifyCmd(a *app) *cobra.Command {
	var decisions, verbose bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every task's chain of events",
		Long: `Verify recomputes the hash of every event, follows every task's chain and folds
its events again. It fails if anything was changed, removed or reordered. With
--verbose it prints the latest hash of every task, for you to store elsewhere.

It also fails if a transcript that the ledger names was altered. A missing one is
not a failure, because old transcripts are removed.

With --decisions it also decides every recorded round again, with the policy that
decided it, and fails if anything differs: the route of a finding, the policy's
input, or its decision.`,
		Args: cli.NoArgs,
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show every chain with its latest hash, and the transcripts that are gone")
	cmd.Flags().BoolVar(&decisions, "decisions", false, "decide every recorded round again")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		result, err := a.verifyLedger(ctx, e, decisions)
		if err != nil {
			return err
		}
		return showCheck(a, result, ledgerFailure(result), func(p *render.Printer, l render.LedgerReport) { p.Ledger(l, verbose) })
	})
	return cmd
}

// verifyLedger checks every chain. If the chains are intact and decisions is set, it
// also decides all rounds again.
func (a *app) verifyLedger(ctx context.Context, e *host.Engine, decisions bool) (render.LedgerReport, error) {
	report, err := e.Verify(ctx)
	result := render.LedgerReport{Report: report.Report, Transcripts: report.Transcripts}
	if err != nil || !decisions || !report.Sound() {
		return result, err
	}
	update, done := a.showCount("deciding again, event")
	again, err := e.Policies().VerifyDecisions(ctx, update)
	done()
	result.Decisions = &again
	return result, err
}

// ledgerFailure returns an error if a report has problems.
func ledgerFailure(r render.LedgerReport) error {
	d, altered := r.Decisions, r.Transcripts.Altered
	switch {
	case !r.Sound():
		return errs.New(errs.LedgerTampered, "the ledger was changed: %s in %s",
			textutil.Count(int64(len(r.Problems))+r.Omitted, "problem"), textutil.Count(r.Tasks, "task")).With("problems", r.Problems)
	case d != nil && len(d.Problems) > 0:
		return errs.New(errs.LedgerTampered, "%d of %s do not match their policy",
			int64(len(d.Problems))+d.Omitted, textutil.Count(d.Decisions, "recorded decision")).With("problems", d.Problems).With("decisions", d)
	case len(altered) > 0:
		return errs.New(errs.TranscriptAltered, "%s not what the ledger says", textutil.Count(len(altered), "transcript is", "transcripts are")).
			With("altered", altered)
	case d == nil || d.Sound():
		return nil
	default:
		return errs.New(errs.PolicyLost, "%s cannot be decided again: the policy is no longer available", textutil.Count(d.Unchecked, "decision")).
			With("lost", d.Lost).With("decisions", d)
	}
}

func newLedgerExportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print every event as a line of JSON",
		Long: `Export prints the ledger's events in the order of recording, one JSON object a
line, whatever --output says. An event's body is printed byte for byte as its
hash covers it; docs/ledger.md says how to check a chain.`,
		Args: cli.NoArgs,
		RunE: a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
			return a.Write(func(w io.Writer) error {
				var line bytes.Buffer
				for event, err := range e.Events(ctx) {
					if err != nil {
						return err
					}
					if err := render.JSONLine(&line, event); err != nil {
						return errs.New(errs.LedgerTampered, "event %d of task %s cannot be printed: %w", event.N, event.Task, err).
							With("task", event.Task)
					}
					if _, err := line.WriteTo(w); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
}

func newLedgerCompactCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Write the ledger's log into ledger.db",
		Long: `Compact writes the latest events, which are in ledger.db-wal, into ledger.db. Until
the next command records something, ledger.db alone is then the whole ledger: copy it
for a backup. If a tenth of the file or more is free, compact also shrinks it.

Other commands can run meanwhile. If they use the log for ten seconds, the command
fails, and no event is lost.`,
		Args: cli.NoArgs,
		RunE: a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
			result, err := e.Compact(ctx)
			return cli.Show(&a.Program, result, err, (*render.Printer).Compaction)
		}),
	}
}

func newLedgerArchiveCmd(a *app) *cobra.Command {
	var unchanged time.Duration
	cmd := &cobra.Command{
		Use:   "archive --older-than DURATION",
		Short: "Move the events of old tasks to a compressed file",
		Long: `Archive moves the contents of the events of tasks that are committed, and did not
change for some time, to .switchyard/ledger.archive, compressed. Every command still
reads them there, and ledger verify checks them. Back up the file with ledger.db.

ledger compact then frees the space in ledger.db.`,
		Example: `  switchyard ledger archive --older-than 2160h`,
		Args:    cli.NoArgs,
	}
	cli.DurationVar(cmd.Flags(), &unchanged, "older-than", "archive tasks that did not change for `DURATION`, such as 2160h for 90 days")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if err := cli.CheckRequired(cmd.Flags(), "older-than"); err != nil {
			return err
		}
		result, err := e.Archive(ctx, unchanged)
		return cli.Show(&a.Program, result, err, (*render.Printer).Archived)
	})
	return cmd
}
