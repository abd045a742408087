package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/fault"
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
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every task's chain of events",
		Long: `Verify recomputes the hash of every event, follows every task's chain and folds
its events again. It prints the newest hash of every task, and fails if anything
was changed, removed or reordered.`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			report, err := e.Verify(ctx)
			if err != nil {
				return err
			}
			if n := len(report.Problems); n > 0 {
				return fault.New(host.CodeTampered, "the ledger was changed: %s in %s", plural(n+int(report.Omitted), "problem"), plural(int(report.Tasks), "task")).
					With("problems", report.Problems)
			}
			return a.print(report, func(p *page) { p.verified(report) })
		})
	})
	return cmd
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
				if err := writeLine(w, event); err != nil {
					return fault.New(codeOutput, "write the result: %w", err)
				}
			}
			if err := w.Flush(); err != nil {
				return fault.New(codeOutput, "write the result: %w", err)
			}
			return nil
		})
	})
	return cmd
}
