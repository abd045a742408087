package main

import (
	"bytes"
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/metrics/oracle"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// maxExposition is the largest file of metrics that is compared, in bytes.
const maxExposition = 64 << 20

func newMetricsVerifyCmd(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Count everything again from the events, and compare",
		Long: `Verify counts what the metrics show a second time, from nothing but the recorded
events, by a program of its own, and fails where any number is another one.
Rounds may go on meanwhile: it compares as of one moment.

With --exposition it compares metrics that were saved in the text format, as a
file for node_exporter is, with as many events as they were counted from. Labels
that all of the file's series have besides their own are left out.

The events themselves are taken as they are: switchyard ledger verify checks
them.`,
		Example: `  switchyard metrics verify
  switchyard metrics verify --exposition /var/lib/prometheus/node-exporter/switchyard.prom`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&file, "exposition", "", "compare the metrics in `FILE`, - for standard input (default those of now)")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("exposition") && file == "" {
			return usagef("--exposition is empty")
		}
		return a.with(ctx, func(e *host.Engine) error {
			shown, err := a.shownMetrics(ctx, e, file)
			if err != nil {
				return err
			}
			see, done := a.counting("counting again, event")
			counted, err := oracle.Of(ctx, e.Events(ctx), shown.Events, see)
			done()
			if err != nil {
				return err
			}
			report := counted.Compare(shown)
			text := func(p *render.Printer) { p.Recount(report) }
			if n := len(report.Differences); n > 0 {
				return a.after(text, errs.New(errs.MetricsDiffer, "the metrics are not what the events come to: %s in %d series of %s",
					render.Count(n+report.Omitted, "difference"), report.Series, render.Count(int(report.Events), "event")).
					With("series", report.Series).With("events", report.Events).With("differences", report.Differences).With("omitted", report.Omitted))
			}
			return a.print(report, text)
		})
	})
	return cmd
}

// shownMetrics are those in a file, or those of now where it is "".
func (a *app) shownMetrics(ctx context.Context, e *host.Engine, file string) (oracle.Exposition, error) {
	var text []byte
	switch file {
	case "":
		families, err := a.gathered(ctx, e, nil)
		if err != nil {
			return oracle.Exposition{}, err
		}
		return oracle.Gathered(families)
	case host.Stdin:
		var err error
		if text, err = project.Drain(ctx, a.in, "standard input", maxExposition); err != nil {
			return oracle.Exposition{}, err
		}
	default:
		p, err := a.project()
		if err != nil {
			return oracle.Exposition{}, err
		}
		if text, err = p.Read(ctx, file, maxExposition); err != nil {
			return oracle.Exposition{}, err
		}
	}
	return oracle.Parse(bytes.NewReader(text))
}
