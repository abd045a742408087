package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsTextfileCmd(a *app) *cobra.Command {
	var labels labelFlags
	cmd := &cobra.Command{
		Use:   "textfile FILE",
		Short: "Write the metrics to a file for node_exporter",
		Long: `Textfile replaces FILE, whose name ends in .prom, by the metrics in the text
format, for the textfile collector of node_exporter. A reader sees the old file
or the new one, never half of one, and of several processes the one with the
newest metrics wins.

FILE is left alone if it is a link, if it holds metrics of others, or if it is
that of a younger ledger: of another project, or of this one before its ledger
was replaced by an older copy. Remove it then if it is not needed.

With metrics.textfile in switchyard.yaml the file is written whenever something
was recorded.`,
		Example: `  switchyard metrics textfile /var/lib/prometheus/node-exporter/switchyard.prom
  switchyard metrics textfile --label repository=shop /srv/metrics/shop.prom`,
		Args: exactly("FILE"),
	}
	labels.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		dirs, err := a.project()
		if err != nil {
			return err
		}
		path := dirs.Abs(args[0])
		return a.withMetrics(ctx, labels, func(p metrics.Project) error {
			result, err := p.WriteTextfile(ctx, path)
			if err != nil {
				return err
			}
			return show(a, result, func(p *render.Printer, r metrics.TextfileResult) {
				if !r.Written {
					p.Line("%s has newer metrics already", path)
					return
				}
				p.Line("wrote %s to %s", textutil.Count(r.Metrics, "metric"), path)
			})
		})
	})
	return cmd
}
