package metrics_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// words generates label values, including awkward ones.
func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"executor", "commit", "1.2.0", "critic", "plugin-timeout", "timeout", counters.Other, "", "\"", "\\n\n", "é\u2028", "a,b=\"c\"}"}),
		rapid.String().Filter(func(s string) bool { return len(s) <= counters.MaxValue }),
	)
}

// anEvent generates the changes of an event: any measures, with any labels.
func anEvent() *rapid.Generator[[]counters.Change] {
	measures := []counters.Measure{
		counters.Rounds(), counters.Verifications(), counters.Findings(), counters.Deferred(), counters.Induced(), counters.Commits(), counters.Progress(), counters.Stalled(), counters.Stops(),
		counters.BudgetStops(), counters.Resumes(), counters.Forced(), counters.Questions(), counters.Failures(), counters.PluginFailures(),
		counters.Spawns(), counters.SpawnLevels(), counters.Fallbacks(), counters.Retries(), counters.Tokens(), counters.MicroDollars(), counters.Tasks(),
		counters.Policies(), counters.Adoptions(), counters.DailyRounds(), {Name: ledger.OverflowMeasure, Labels: []counters.Dimension{{Name: "dimension"}}},
	}
	distributions := []counters.Distribution{counters.QuestionWaits(), counters.PluginRuns(), counters.Evaluations(), counters.SpawnRuns(), counters.TaskRounds()}
	return rapid.Custom(func(t *rapid.T) []counters.Change {
		labels := func(n int) []string { return rapid.SliceOfN(words(), n, n).Draw(t, "labels") }
		if rapid.Bool().Draw(t, "distribution") {
			d := rapid.SampledFrom(distributions).Draw(t, "distribution")
			s := counters.Observation{Value: rapid.Int64Range(0, counters.MaxAdd).Draw(t, "value"), Task: words().Draw(t, "task"), Round: rapid.IntRange(0, 1e6).Draw(t, "round")}
			return d.Observe(s, labels(len(d.Labels))...)
		}
		m := rapid.SampledFrom(measures).Draw(t, "measure")
		return []counters.Change{several(rapid.Int64Range(1, 1<<20).Draw(t, "n"), m, labels(len(m.Labels))...)}
	})
}

// TestAnySumsMakeAnExposition generates histories and checks the exposition against the
// rules of Prometheus after each event: no duplicate series, valid names and labels,
// counters and buckets that never fall, and both formats well-formed.
func TestAnySumsMakeAnExposition(t *testing.T) {
	_, o := example()
	rapid.Check(t, func(t *rapid.T) {
		b := &record{}
		c := must(metrics.New(b, o))
		before := make(map[string]float64)
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			b.record(anEvent().Draw(t, "event")...)
			families, err := c.Gather(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// The client library checks the consistency of the merged families.
			registry := prometheus.NewRegistry()
			registry.MustRegister(c)
			if _, err := registry.Gather(); err != nil {
				t.Fatal(err)
			}
			after := numbers(t, families)
			for name, n := range before {
				if now, ok := after[name]; !ok || now < n {
					t.Fatalf("%s was %v and is %v", name, n, now)
				}
			}
			before = after
			readBack(t, families)
			checkOpenMetrics(t, families)
		}
	})
}

// numbers returns the values that must never fall, by series.
func numbers(t *rapid.T, families []*dto.MetricFamily) map[string]float64 {
	all := make(map[string]float64)
	add := func(f *dto.MetricFamily, m *dto.Metric, what string, n float64) {
		name := fmt.Sprint(f.GetName(), what, m.Label)
		if _, twice := all[name]; twice {
			t.Fatalf("%s is there twice", name)
		}
		all[name] = n
	}
	for _, f := range families {
		for _, m := range f.Metric {
			switch h := m.Histogram; {
			case m.Counter != nil:
				add(f, m, "", m.Counter.GetValue())
			case h != nil:
				add(f, m, " count", float64(h.GetSampleCount()))
				add(f, m, " sum", h.GetSampleSum())
				last := uint64(0)
				for _, b := range h.Bucket {
					if b.GetCumulativeCount() < last {
						t.Fatalf("the buckets of %s fall: %v", f.GetName(), h)
					}
					if last = b.GetCumulativeCount(); !math.IsInf(b.GetUpperBound(), 1) {
						add(f, m, fmt.Sprint(" le ", b.GetUpperBound()), float64(last))
					}
				}
				in := h.GetZeroCount()
				for _, n := range native(h) {
					in += uint64(n)
				}
				if in != h.GetSampleCount() || last > in {
					t.Fatalf("%s has %d values, %d in native buckets and %d in classic ones", f.GetName(), h.GetSampleCount(), in, last)
				}
			}
		}
	}
	return all
}

// readBack parses the text format with the parser that node_exporter and Pushgateway use.
func readBack(t *rapid.T, families []*dto.MetricFamily) {
	var text strings.Builder
	if err := metrics.Write(&text, families, metrics.Text); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	read, err := parser.TextToMetricFamilies(strings.NewReader(text.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	for _, f := range families {
		r := read[f.GetName()]
		if r.GetHelp() != f.GetHelp() || r.GetType() != f.GetType() || len(r.GetMetric()) != len(f.Metric) {
			t.Fatalf("%s is read as %v", f.GetName(), r)
		}
		for i, m := range f.Metric {
			if !proto.Equal(plain(m), plain(r.Metric[i])) {
				t.Fatalf("%s: %v is read as %v", f.GetName(), m, r.Metric[i])
			}
		}
	}
}

// plain returns the part of a series that the text format has.
func plain(m *dto.Metric) *dto.Metric {
	p := &dto.Metric{Label: m.Label, Gauge: m.Gauge}
	if m.Counter != nil {
		p.Counter = &dto.Counter{Value: m.Counter.Value}
	}
	if h := m.Histogram; h != nil {
		p.Histogram = &dto.Histogram{SampleCount: h.SampleCount, SampleSum: h.SampleSum}
		for _, b := range h.Bucket {
			if !math.IsInf(b.GetUpperBound(), 1) { // The writer adds the last bucket if it is missing.
				p.Histogram.Bucket = append(p.Histogram.Bucket, &dto.Bucket{UpperBound: b.UpperBound, CumulativeCount: b.CumulativeCount})
			}
		}
	}
	return p
}

// checkOpenMetrics checks an exposition against the grammar of OpenMetrics 1.0, as far as
// our metrics use it.
func checkOpenMetrics(t *rapid.T, families []*dto.MetricFamily) {
	var text strings.Builder
	if err := metrics.Write(&text, families, metrics.OpenMetrics); err != nil {
		t.Fatal(err)
	}
	const (
		name   = `[a-z_]+`
		label  = `[a-z_]+="(?:[^"\\\n]|\\["\\n])*"`
		labels = `\{` + label + `(?:,` + label + `)*\}`
		number = `(?:[0-9.]+(?:e[+-][0-9]+)?)`
	)
	meta := regexp.MustCompile(`^# (?:TYPE ` + name + ` (?:counter|gauge|histogram)|UNIT ` + name + ` [a-z]+|HELP ` + name + ` .+)$`)
	sample := regexp.MustCompile(`^` + name + `(?:` + labels + `)? ` + number + `(?: # (` + labels + `) ` + number + ` ` + number + `)?$`)
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if last := lines[len(lines)-1]; last != "# EOF" {
		t.Fatalf("the last line is %q", last)
	}
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "#") {
			if !meta.MatchString(line) {
				t.Fatalf("%q is no line about a metric", line)
			}
			continue
		}
		if !sample.MatchString(line) {
			t.Fatalf("%q is no sample", line)
		}
	}
}
