package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsPrintCmd(a *app) *cobra.Command {
	format, labels := metricsFormat(metrics.Text), labelFlags{}
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the metrics",
		Long: `Print shows the metrics in the text format of Prometheus, or in OpenMetrics with
units, exemplars and the time when each counter was 0, whatever --output says. The
same ledger gives the same bytes.`,
		Example: `  switchyard metrics print | promtool check metrics
  switchyard metrics print --format openmetrics --label team=search`,
		Args: noArgs,
	}
	cmd.Flags().Var(&format, "format", "print `FORMAT`: text or openmetrics")
	labels.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		constant, err := labels.parsed()
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			c, err := a.collector(ctx, e, constant, nil)
			if err != nil {
				return err
			}
			families, err := c.Gather(ctx)
			if err != nil {
				return err
			}
			if err := metrics.Write(a.out, families, metrics.Format(format)); err != nil {
				return fault.New(codeOutput, "write the result: %w", err)
			}
			return nil
		})
	})
	return cmd
}

// metricsFormat is the flag --format.
type metricsFormat metrics.Format

func (f *metricsFormat) String() string { return string(*f) }

func (f *metricsFormat) Type() string { return "format" }

func (f *metricsFormat) Set(s string) error {
	for _, known := range metrics.Formats() {
		if s == string(known) {
			*f = metricsFormat(s)
			return nil
		}
	}
	return fmt.Errorf("%q is neither text nor openmetrics", s)
}
