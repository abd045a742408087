package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/policies"
)

func newMetricsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Show what the ledger counts to Prometheus",
		Long: `Metrics are folded from the ledger: whichever process shows them, and however
short it lives, they equal what was recorded, and counters never fall. They
leave in four ways: printed, as a file for node_exporter, to a Pushgateway, or
scraped from a server. docs/metrics.md lists them.`,
		Args: unknownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newMetricsPrintCmd(a), newMetricsTextfileCmd(a), newMetricsPushCmd(a), newMetricsServeCmd(a))
	return cmd
}

// collector reads the metrics of an engine's project, with the labels that its
// configuration puts on all of them, and these instead or besides. What the group of
// a push says, nil for none, is not said again.
func (a *app) collector(ctx context.Context, e *host.Engine, labels, group map[string]string) (*metrics.Collector, error) {
	return a.collectorOf(ctx, e, e, labels, group)
}

// gathered are the metrics of an engine's project as they are now, labelled as by
// collector.
func (a *app) gathered(ctx context.Context, e *host.Engine, labels map[string]string) ([]*dto.MetricFamily, error) {
	c, err := a.collector(ctx, e, labels, nil)
	if err != nil {
		return nil, err
	}
	return c.Gather(ctx)
}

// collectorOf is a collector of the sums of a source, which are those of the engine's
// project.
func (a *app) collectorOf(ctx context.Context, source metrics.Source, e *host.Engine, labels, group map[string]string) (*metrics.Collector, error) {
	config, err := e.UncheckedConfig(ctx)
	if err != nil {
		return nil, err
	}
	known, err := known(ctx, e, config)
	if err != nil {
		return nil, err
	}
	constant := joined(config.Metrics.Labels, labels)
	maps.DeleteFunc(constant, func(name, value string) bool { return group[name] == value })
	build := readBuildInfo()
	return metrics.New(source, metrics.Options{
		Labels: constant,
		Known:  known,
		Build:  metrics.Build{Version: build.Version, Go: build.Go},
	})
}

// joined are the labels of both; where both have one, the second's counts.
func joined(first, second map[string]string) map[string]string {
	all := make(map[string]string, len(first)+len(second))
	maps.Copy(all, first)
	maps.Copy(all, second)
	return all
}

// known is what metrics of a project can count sooner or later, so that they begin
// at 0.
//
// # Errors
//
// ledger-busy, and the cause where ctx ends: the sums could not be read either.
func known(ctx context.Context, e *host.Engine, config project.Config) (metrics.Known, error) {
	k := metrics.Known{
		Agents: []metrics.KnownAgent{
			{Name: "critic", Reviews: true, Adapters: adapters(config, "critic")},
			{Name: "researcher", Adapters: adapters(config, "researcher")},
		},
		Plugins: append(slices.Collect(maps.Keys(config.Plugins)), "np-critic"),
	}
	p, err := e.Policies().Load(ctx, "", true)
	if ctx.Err() != nil || errs.CodeOf(err) == errs.LedgerBusy {
		return k, err
	}
	if err != nil {
		// Metrics are there also while a policy is broken, or not adopted yet.
		if p, err = policies.Load(ctx, policies.Default); err != nil {
			return k, err
		}
	}
	k.PolicyVersions = []string{p.Identity().Version}
	k.Actions = slices.Collect(maps.Keys(p.Destinations()))
	k.Routes = p.RouteTable()
	return k, nil
}

// adapters are those that a project may run an agent with.
func adapters(config project.Config, agent string) []string {
	settings := config.Spawn.For(agent)
	return append(slices.Clone(settings.Fallback), settings.Adapter)
}

// labelFlags are those of constant labels.
type labelFlags struct{ labels []string }

func (f *labelFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.labels, "label", nil, "put the label `NAME=VALUE` on every metric (repeatable)")
}

// parsed are the labels by their names.
func (f *labelFlags) parsed() (map[string]string, error) { return pairs("--label", f.labels) }

// pairs reads the values NAME=VALUE of a flag that may be given several times.
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
