package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "metrics",
		Short: "Export the ledger's counters to Prometheus",
		Long: `Metrics are read from the counters in the ledger, so they are the same in every
process and never fall. Export them with print, as a file for node_exporter with
textfile, to a Pushgateway with push, or to a scraper with serve. docs/metrics.md
lists them.`,
	}, newMetricsPrintCmd(a), newMetricsTextfileCmd(a), newMetricsPushCmd(a), newMetricsServeCmd(a))
}

func (a *app) metrics(e *host.Engine, labels map[string]string) metrics.Project {
	m := cli.Metrics(e, a.project)
	m.Labels = labels
	return m
}

// pairsVar adds a repeatable flag for NAME=VALUE.
func pairsVar(flags *pflag.FlagSet, values *map[string]string, name, usage string) {
	*values = make(map[string]string)
	flags.Var((*pairs)(values), name, usage+" (repeatable)")
}

func labelsVar(flags *pflag.FlagSet, labels *map[string]string) {
	pairsVar(flags, labels, "label", "put the label `NAME=VALUE` on every metric")
}

// pairs is the value of a flag that pairsVar adds.
type pairs map[string]string

func (p *pairs) String() string { return "" }

func (p *pairs) Type() string { return "NAME=VALUE" }

func (p *pairs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not NAME=VALUE", s)
	}
	if _, twice := (*p)[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	(*p)[name] = value
	return nil
}

func newMetricsPrintCmd(a *app) *cobra.Command {
	format := metrics.Text
	var labels map[string]string
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print the metrics",
		Long: `Print shows the metrics in the text format of Prometheus, or in OpenMetrics with
units, exemplars and the time when each counter was 0, whatever --output says.
The same ledger gives the same bytes.`,
		Example: `  switchyard metrics print | promtool check metrics
  switchyard metrics print --format openmetrics --label team=search`,
		Args: cli.NoArgs,
	}
	cli.ChoiceVar(cmd.Flags(), &format, "format", "print `FORMAT`: text or openmetrics", metrics.Formats()...)
	labelsVar(cmd.Flags(), &labels)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		c, err := a.metrics(e, labels).Collector(ctx)
		if err != nil {
			return err
		}
		families, err := c.Gather(ctx)
		if err != nil {
			return err
		}
		var out strings.Builder
		if err := metrics.Write(&out, families, format); err != nil {
			return err
		}
		text := out.String()
		if isTerminal(a.Out) {
			text = textutil.Lines(text) // A label may contain hidden characters.
		}
		return a.PrintText(text)
	})
	return cmd
}

func newMetricsTextfileCmd(a *app) *cobra.Command {
	var labels map[string]string
	cmd := &cobra.Command{
		Use:   "textfile FILE",
		Short: "Write the metrics to a file for node_exporter",
		Long: `Textfile replaces FILE, whose name ends in .prom, by the metrics in the text
format, for the textfile collector of node_exporter. A reader sees the whole old
file or the whole new one, and if several processes write it, the newest metrics
win. It does not replace a link, metrics of another program, or metrics of a
younger ledger.

With metrics.textfile in switchyard.yaml every command that records something
writes the file.`,
		Example: `  switchyard metrics textfile /var/lib/prometheus/node-exporter/switchyard.prom
  switchyard metrics textfile --label repository=shop /srv/metrics/shop.prom`,
		Args: cli.Exactly("FILE"),
	}
	labelsVar(cmd.Flags(), &labels)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		path := a.project.Abs(args[0])
		result, err := a.metrics(e, labels).WriteTextfile(ctx, path)
		return cli.Show(&a.Program, result, err, func(p *render.Printer, r metrics.TextfileResult) {
			if !r.Written {
				p.Line("%s has newer metrics already", path)
				return
			}
			p.Line("wrote %s to %s", textutil.Count(r.Metrics, "metric"), path)
		})
	})
	return cmd
}

func newMetricsPushCmd(a *app) *cobra.Command {
	req := metrics.PushRequest{Timeout: metrics.DefaultPushTimeout}
	var labels map[string]string
	cmd := &cobra.Command{
		Use:   "push [URL]",
		Short: "Push the metrics to a Pushgateway",
		Long: `Push replaces a group of metrics at the Pushgateway of URL, which is given without
/metrics/job/…, or at the one of metrics.push in switchyard.yaml. The URL may
contain a user and password; they are never printed.

The group is the job and the labels of --grouping, or the ones in switchyard.yaml,
with a label project that distinguishes this project and machine from others.
--delete removes the group. Transient failures are retried until --timeout.
docs/metrics.md says how to choose groups if machines come and go.`,
		Example: `  switchyard metrics push http://localhost:9091
  switchyard metrics push https://push.example --grouping project=shop --label team=search
  switchyard metrics push http://localhost:9091 --grouping project=shop --delete`,
		Args: atMostOneURL,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &req.Job, "job", "the `JOB` of the group (default switchyard)")
	pairsVar(flags, &req.Grouping, "grouping", "group by the label `NAME=VALUE` too")
	flags.BoolVar(&req.Delete, "delete", false, "remove the group instead of replacing it")
	cli.DurationVar(flags, &req.Timeout, "timeout", "give up after `DURATION`")
	labelsVar(flags, &labels)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		switch {
		case req.Timeout > time.Hour:
			return cli.Usagef("--timeout %s: it must be at most 1h", req.Timeout)
		case req.Delete && len(labels) > 0:
			return cli.Usagef("--label has no effect with --delete: a group is found by its --job and --grouping")
		}
		req.URL = cli.FirstArg(args)
		result, err := a.metrics(e, labels).Push(ctx, req)
		return cli.Show(&a.Program, result, err, (*render.Printer).Push)
	})
	return cmd
}

// atMostOneURL accepts at most one URL. The error does not show the second one, which
// may contain a password.
func atMostOneURL(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errors.New("there is more than one URL")
	}
	return cli.OrNothing(cli.Exactly("URL"))(cmd, args)
}

func newMetricsServeCmd(a *app) *cobra.Command {
	var address, webConfig string
	var labels map[string]string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the metrics to Prometheus",
		Long: `Serve answers scrapes at /metrics until it is stopped, in the format that
the scraper asks for: text, OpenMetrics with exemplars, or protocol buffers with
native histograms. /healthz says whether the ledger can be read right now.

--web.config.file adds TLS, client certificates and passwords, in the form of
the web configuration of Prometheus' exporters. Without one, everyone who can
reach the address can read the metrics.`,
		Example: `  switchyard metrics serve
  switchyard metrics serve --listen :9464 --web.config.file web.yml`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "listen", metrics.DefaultAddress, "serve at `HOST:PORT`; port 0 takes a free one")
	cli.TextVar(flags, &webConfig, "web.config.file", "the web configuration `FILE`")
	labelsVar(flags, &labels)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if err := metrics.CheckAddress(address); err != nil {
			return cli.Usagef("--listen: %w", err)
		}
		if webConfig != "" {
			webConfig = a.project.Abs(webConfig)
		}
		return a.metrics(e, labels).Serve(ctx, metrics.ServeOptions{Address: address, WebConfig: webConfig, Started: a.serving, Warn: a.warn})
	})
	return cmd
}

// serving prints the address to standard error, with --output json as a line of JSON.
func (a *app) serving(at metrics.Listening) {
	if a.Output == cli.OutputJSON {
		_ = render.JSONLine(a.Err, struct {
			Serving string `json:"serving"`
			Open    bool   `json:"open"`
		}{at.URL, at.Open})
		return
	}
	fmt.Fprintf(a.Err, "switchyard: serving %s\n", at.URL)
	if at.Open {
		a.warn(fmt.Errorf("everyone who can reach %s can read the metrics; --web.config.file adds TLS and passwords", at.URL))
	}
}
