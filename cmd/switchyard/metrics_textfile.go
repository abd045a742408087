package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/metrics/textfile"
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
		constant, err := labels.parsed()
		if err != nil {
			return err
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		path := p.Abs(args[0])
		return a.with(ctx, func(e *host.Engine) error {
			result, err := a.writeTextfile(ctx, e, path, constant)
			if err != nil {
				return err
			}
			return a.print(result, func(p *render.Printer) {
				if !result.Written {
					p.Line("%s has newer metrics already", path)
					return
				}
				p.Line("wrote %s to %s", render.Count(result.Metrics, "metric"), path)
			})
		})
	})
	return cmd
}

// writtenMetrics is what became of a file of metrics.
type writtenMetrics struct {
	File string `json:"file"`
	// Written is false where the file has newer ones already.
	Written bool `json:"written"`
	Metrics int  `json:"metrics"`
}

// writeTextfile writes a project's metrics as they are now to a file.
func (a *app) writeTextfile(ctx context.Context, e *host.Engine, path string, labels map[string]string) (writtenMetrics, error) {
	families, err := a.gathered(ctx, e, labels)
	if err != nil {
		return writtenMetrics{}, err
	}
	written, err := textfile.Write(ctx, path, families)
	return writtenMetrics{File: path, Written: written, Metrics: len(families)}, err
}
