package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/metrics/exporter"
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
	flags.StringVar(&address, "listen", exporter.DefaultAddress, "serve at `HOST:PORT`; port 0 takes a free one")
	flags.StringVar(&webConfig, "web.config.file", "", "the web configuration `FILE`")
	labels.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		constant, err := labels.parsed()
		if err != nil {
			return err
		}
		if err := exporter.CheckAddress(address); err != nil {
			return usagef("--listen: %w", err)
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		if flags.Changed("web.config.file") {
			if webConfig == "" {
				return usagef("--web.config.file is empty")
			}
			webConfig = p.Abs(webConfig)
		}
		return a.with(ctx, func(e *host.Engine) error {
			source := metrics.NewLasting(e)
			s := &scraped{fresh: func(ctx context.Context) (*metrics.Collector, error) {
				return a.collectorOf(ctx, source, e, constant, nil)
			}}
			ready := func(ctx context.Context) error {
				_, err := source.Tallies(ctx)
				return err
			}
			// What is wrong from the beginning is for whoever began it.
			if _, err := s.collector(ctx); err != nil {
				return err
			}
			if err := ready(ctx); err != nil {
				return err
			}
			return exporter.Run(ctx, exporter.Options{
				Address:   address,
				WebConfig: webConfig,
				Gather:    s.gather,
				Ready:     ready,
				Started:   a.serving,
				Warn:      a.warn,
			})
		})
	})
	return cmd
}

// serving says where metrics are served. It goes to standard error, since there is
// no result: with --output json as a line of it.
func (a *app) serving(at exporter.Listening) {
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

// knownFor is how long it takes at most until a change of the configuration or of
// the policy shows in the series that begin at 0.
const knownFor = time.Minute

// scraped gathers metrics again and again. It is safe for concurrent use.
type scraped struct {
	fresh func(context.Context) (*metrics.Collector, error)

	mu    sync.Mutex
	last  *metrics.Collector
	until time.Time
}

func (s *scraped) gather(ctx context.Context) ([]*dto.MetricFamily, error) {
	c, err := s.collector(ctx)
	if err != nil {
		return nil, err
	}
	return c.Gather(ctx)
}

// collector is one that is not older than knownFor; while the configuration is
// broken, the last one goes on.
func (s *scraped) collector(ctx context.Context) (*metrics.Collector, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.After(s.until) {
		c, err := s.fresh(ctx)
		if err != nil && s.last == nil {
			return nil, err
		}
		if err == nil {
			s.last = c
		}
		s.until = now.Add(knownFor)
	}
	return s.last, nil
}
