package metrics

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Collector computes the metrics from a Source. It has no state between gatherings and is
// safe for concurrent use if its source is.
type Collector struct {
	source   Source
	options  Options
	families []Family
	constant []*dto.LabelPair
	// withoutExemplars omits them, for a Pushgateway, which would show the same ones
	// permanently.
	withoutExemplars bool
}

// New returns a collector for a source. It does not read the source yet.
//
// # Errors
//
// metrics-label-invalid.
func New(source Source, o Options) (*Collector, error) {
	if err := checkLabels(o.Labels); err != nil {
		return nil, err
	}
	o.Seed = o.Seed.withinCaps()
	c := &Collector{source: source, options: o, families: Families()}
	for _, name := range slices.Sorted(maps.Keys(o.Labels)) {
		c.constant = append(c.constant, pair(name, o.Labels[name]))
	}
	return c, nil
}

// Gather returns all metrics as of one moment, ordered by name, without families that lack
// series. Series are ordered by label values. The creation time of counters and histograms is
// the time of the ledger's first event, if there is one. The families share data and must not
// be modified.
//
// # Errors
//
// The errors of the source, and ledger-corrupt if the counters are inconsistent.
func (c *Collector) Gather(ctx context.Context) ([]*dto.MetricFamily, error) {
	var queries []ledger.CounterQuery
	for _, f := range c.families {
		queries = append(queries, f.queries()...)
	}
	all, err := c.source.Counters(ctx, queries...)
	if err != nil {
		return nil, err
	}
	if len(all.Rows) != len(queries) {
		return nil, errCorrupt("the ledger returned %d of %d counters", len(all.Rows), len(queries))
	}
	for i, rows := range all.Rows {
		if len(rows) > maxRows {
			return nil, errCorrupt("%s has more than %d rows", queries[i].Measure, maxRows)
		}
		for j := range rows {
			if c.withoutExemplars {
				rows[j].Exemplar = nil
			}
		}
	}
	g := snapshot{Collector: c, events: all.Events}
	since, err := moment(all.Since)
	if err != nil {
		return nil, err
	}
	if g.until, err = moment(all.Until); err != nil {
		return nil, err
	}
	if !since.IsZero() {
		g.created = timestamppb.New(since)
	}
	var shown []*dto.MetricFamily
	rows := all.Rows
	for _, f := range c.families {
		n := len(f.queries())
		metrics, err := g.read(f, rows[:n])
		if err != nil {
			return nil, err
		}
		if rows = rows[n:]; len(metrics) > 0 {
			shown = append(shown, f.toProto(metrics))
		}
	}
	return shown, nil
}

// Describe implements prometheus.Collector. It sends no descriptions, so that the registry
// does not check the series: the ledger decides which series exist.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. It gathers without a deadline; Gather has one.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	families, err := c.Gather(context.Background())
	if err != nil {
		out <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	for _, family := range families {
		desc := prometheus.NewDesc(family.GetName(), family.GetHelp(), nil, nil)
		for _, m := range family.GetMetric() {
			out <- constMetric{desc, m}
		}
	}
}

// constMetric is a gathered series as a prometheus.Metric.
type constMetric struct {
	desc *prometheus.Desc
	*dto.Metric
}

func (m constMetric) Desc() *prometheus.Desc { return m.desc }

func (m constMetric) Write(to *dto.Metric) error {
	proto.Merge(to, m.Metric)
	return nil
}

// snapshot is a collector at one moment of the ledger.
type snapshot struct {
	*Collector
	events  int64
	until   time.Time              // of the last event, or zero
	created *timestamppb.Timestamp // the time of the first event, or nil
}

// moment parses a time of the ledger; "" is the zero time.
func moment(at string) (time.Time, error) {
	if at == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(ledger.TimeFormat, at)
	if err != nil {
		return time.Time{}, errCorrupt("%q is not a time", textutil.Clip(at, maxShown))
	}
	return t, nil
}

// maxShown limits how many bytes of a wrong value an error shows.
const maxShown = 60

// errCorrupt returns the error of inconsistent counters.
func errCorrupt(format string, args ...any) error {
	return errs.New(errs.LedgerCorrupt, "the ledger's counters are inconsistent: "+format, args...)
}

// toProto converts the family to the client library's type.
func (f Family) toProto(metrics []*dto.Metric) *dto.MetricFamily {
	kind := dto.MetricType(dto.MetricType_value[strings.ToUpper(string(f.Kind))])
	shown := &dto.MetricFamily{Name: &f.Name, Help: &f.Help, Type: &kind, Metric: metrics}
	if f.Unit != "" {
		shown.Unit = &f.Unit
	}
	return shown
}

func pair(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }

// labelPairs returns the constant labels and the given ones, ordered by name.
func (c *Collector) labelPairs(labels []Label, values []string) []*dto.LabelPair {
	all := slices.Clone(c.constant)
	for i, l := range labels {
		all = append(all, pair(l.Name, values[i]))
	}
	slices.SortFunc(all, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}
