package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/fault"
)

func newLedgerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Check the record of all decisions",
		Args:  unknownCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(newLedgerVerifyCmd(a))
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
		e, err := a.open()
		if err != nil {
			return err
		}
		defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
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
	return cmd
}
