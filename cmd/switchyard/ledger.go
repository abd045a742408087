package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

func newLedgerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Check and export the record of all decisions",
		Args:  unknownCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(newLedgerVerifyCmd(a), newLedgerExportCmd(a))
	return cmd
}

func newLedgerVerifyCmd(a *app) *cobra.Command {
	var decisions, verbose bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every task's chain of events",
		Long: `Verify recomputes the hash of every event, follows every task's chain and folds
its events again. It fails if anything was changed, removed or reordered. With
--verbose it prints the newest hash of every task, to be kept elsewhere.

With --decisions it also decides every recorded round again, by the very policy
that decided it, and fails where anything comes out otherwise: where a finding
went, what the policy saw, or what it made of that.`,
		Args: noArgs,
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show every chain with its newest hash")
	cmd.Flags().BoolVar(&decisions, "decisions", false, "decide every recorded round again")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			report, err := e.Verify(ctx)
			if err != nil {
				return err
			}
			if n := len(report.Problems); n > 0 {
				return errs.New(errs.LedgerTampered, "the ledger was changed: %s in %s", render.Count(n+int(report.Omitted), "problem"), render.Count(int(report.Tasks), "task")).
					With("problems", report.Problems)
			}
			result := verifiedLedger{Report: report}
			if decisions {
				if result.Decisions, err = a.verifyDecisions(ctx, e); err != nil {
					return err
				}
			}
			return a.print(result, func(p *render.Printer) {
				p.Ledger(report, verbose)
				if d := result.Decisions; d != nil {
					p.Line("%s  %s decided again, all as recorded", p.Paint(render.Green, "sound"), render.Count(int(d.Decisions), "round"))
				}
			})
		})
	})
	return cmd
}

// verifiedLedger is a ledger without problems.
type verifiedLedger struct {
	ledger.Report
	// Decisions is nil where nobody asked for it.
	Decisions *api.DecisionsReport `json:"decisions,omitzero"`
}

// verifyDecisions decides every recorded round again, and fails where anything is
// other than it was.
func (a *app) verifyDecisions(ctx context.Context, e *host.Engine) (*api.DecisionsReport, error) {
	see, done := a.counting("deciding again, event")
	report, err := e.Policies().VerifyDecisions(ctx, see)
	done()
	if err != nil {
		return nil, err
	}
	if n := len(report.Problems); n > 0 {
		return nil, errs.New(errs.LedgerTampered, "decisions are not what was decided: %s among %s", render.Count(n+int(report.Omitted), "problem"), render.Count(int(report.Decisions), "decision")).
			With("problems", report.Problems).With("decisions", report)
	}
	if report.Unchecked > 0 {
		return nil, errs.New(errs.PolicyLost, "%s cannot be decided again: their policies are not to be had", render.Count(int(report.Unchecked), "decision")).
			With("lost", report.Lost).With("decisions", report)
	}
	return &report, nil
}

func newLedgerExportCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print every event as a line of JSON",
		Long: `Export prints the ledger's events in the order of recording, one JSON object a
line, whatever --output says. An event's body is printed byte for byte as its
hash covers it; docs/ledger.md tells how to check a chain.`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			w := bufio.NewWriter(a.out)
			for event, err := range e.Events(ctx) {
				if err != nil {
					return errors.Join(err, w.Flush())
				}
				if err := render.JSONLine(w, event); err != nil {
					return errs.New(errs.OutputFailed, "write the result: %w", err)
				}
			}
			if err := w.Flush(); err != nil {
				return errs.New(errs.OutputFailed, "write the result: %w", err)
			}
			return nil
		})
	})
	return cmd
}
