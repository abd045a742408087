package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsPrintCmd(a *app) *cobra.Command {
	format, labels := metricsFormat(metrics.Text), labelFlags{}
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the metrics",
		Long: `Print shows the metrics in the text format of Prometheus, or in OpenMetrics with
units, exemplars and the time when each counter was 0, whatever --output says.
The same ledger gives the same bytes.`,
		Example: `  switchyard metrics print | promtool check metrics
  switchyard metrics print --format openmetrics --label team=search`,
		Args: noArgs,
	}
	cmd.Flags().Var(&format, "format", "print `FORMAT`: text or openmetrics")
	labels.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.withMetrics(ctx, labels, func(p metrics.Project) error {
			c, err := p.Collector(ctx)
			if err != nil {
				return err
			}
			families, err := c.Gather(ctx)
			if err != nil {
				return err
			}
			if err := writeMetrics(a.out, families, metrics.Format(format)); err != nil {
				return errs.New(errs.OutputFailed, "failed to write the result: %w", err)
			}
			return nil
		})
	})
	return cmd
}

// writeMetrics writes metrics. On a terminal it escapes hidden characters, which a
// label value may contain.
func writeMetrics(w io.Writer, families []*dto.MetricFamily, format metrics.Format) error {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return metrics.Write(w, families, format)
	}
	var text strings.Builder
	if err := metrics.Write(&text, families, format); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, textutil.Line(strings.TrimSuffix(line, "\n"))+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// metricsFormat is the value of --format.
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
