package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsServeCmd(a *app) *cobra.Command {
	var (
		address, webConfig string
		labels             labelFlags
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the metrics to Prometheus",
		Long: `Serve answers scrapes at /metrics until it is told to stop, in the format that
the scraper asks for: text, OpenMetrics with exemplars, or protocol buffers with
native histograms. Each scrape reads the ledger, while rounds go on. /healthz
says whether it can be read right now.

--web.config.file adds TLS, client certificates and passwords; it is the web
configuration file of Prometheus' exporter toolkit. Without one, everyone who
can reach the address can read the metrics, so it is the machine's own by
default.

On an interrupt it lets the scrapes that run come to their end.`,
		Example: `  switchyard metrics serve
  switchyard metrics serve --listen :9464 --web.config.file web.yml`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "listen", metrics.DefaultAddress, "serve at `HOST:PORT`; port 0 takes a free one")
	flags.StringVar(&webConfig, "web.config.file", "", "the web configuration `FILE`")
	labels.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if err := metrics.CheckAddress(address); err != nil {
			return usagef("--listen: %w", err)
		}
		if flags.Changed("web.config.file") {
			if webConfig == "" {
				return usagef("--web.config.file is empty")
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			webConfig = p.Abs(webConfig)
		}
		return a.withMetrics(ctx, labels, func(p metrics.Project) error {
			return p.Serve(ctx, metrics.ServeOptions{Address: address, WebConfig: webConfig, Started: a.serving, Warn: a.warn})
		})
	})
	return cmd
}

// serving prints the address to standard error, with --output json as a line of JSON.
func (a *app) serving(at metrics.Listening) {
	if a.output == outputJSON {
		_ = render.JSONLine(a.err, struct {
			Serving string `json:"serving"`
			Open    bool   `json:"open"`
		}{at.URL, at.Open})
		return
	}
	fmt.Fprintf(a.err, "switchyard: serving %s\n", at.URL)
	if at.Open {
		a.warn(fmt.Errorf("everyone who can reach %s can read the metrics; --web.config.file adds TLS and passwords", at.URL))
	}
}
