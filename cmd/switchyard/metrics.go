package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/policies"
)

func newMetricsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Export the ledger's counters to Prometheus",
		Long: `Metrics are read from the counters in the ledger, so they are the same in every
process and never fall. Export them with print, as a file for node_exporter with
textfile, to a Pushgateway with push, or to a scraper with serve. docs/metrics.md
lists them.`,
		Args: unknownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newMetricsPrintCmd(a), newMetricsTextfileCmd(a), newMetricsPushCmd(a), newMetricsServeCmd(a))
	return cmd
}

// withMetrics runs work on the metrics of the project, with these labels.
func (a *app) withMetrics(ctx context.Context, labels labelFlags, work func(metrics.Project) error) error {
	parsed, err := labels.parsed()
	if err != nil {
		return err
	}
	return a.with(ctx, func(e *host.Engine) error {
		p, err := a.metrics(e, parsed)
		if err != nil {
			return err
		}
		return work(p)
	})
}

func (a *app) metrics(e *host.Engine, labels map[string]string) (metrics.Project, error) {
	p, err := a.project()
	build := readBuildInfo()
	return metrics.Project{
		Engine: e, Root: p.Root, State: p.State(), Labels: labels,
		Policy: func(ctx context.Context) (*policies.Policy, error) { return e.Policies().Load(ctx, "", true) },
		Build:  metrics.Build{Version: build.Version, Go: build.Go},
	}, err
}

// publish exports the metrics to the configured destinations if something was recorded.
// A failure is only a warning: the command did its work, and the next command exports
// the same counters.
func (a *app) publish(ctx context.Context, e *host.Engine) {
	if !e.Recorded() || ctx.Err() != nil {
		return
	}
	p, err := a.metrics(e, nil)
	if err == nil {
		err = p.Publish(ctx)
	}
	for _, err := range unjoined(err) {
		a.warn(err)
	}
}

// unjoined returns the errors that errors.Join combined.
func unjoined(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// labelFlags is the value of --label.
type labelFlags struct{ labels []string }

func (f *labelFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.labels, "label", nil, "put the label `NAME=VALUE` on every metric (repeatable)")
}

func (f *labelFlags) parsed() (map[string]string, error) { return pairs("--label", f.labels) }

// pairs parses the NAME=VALUE values of a repeatable flag.
func pairs(flag string, values []string) (map[string]string, error) {
	all := make(map[string]string, len(values))
	for _, text := range values {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("%s: %q is not NAME=VALUE", flag, text)
		}
		if _, twice := all[name]; twice {
			return nil, usagef("%s: %s is given twice", flag, name)
		}
		all[name] = value
	}
	return all, nil
}
