package metrics_test

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/metrics"
)

// TestHistogramsAreThoseOfTheClientLibrary observes the same values with the client
// library's own histogram, and expects identical classic and native buckets.
func TestHistogramsAreThoseOfTheClientLibrary(t *testing.T) {
	distributions := map[string]counters.Distribution{
		"question_wait_seconds": counters.QuestionWaits(), "spawn_duration_seconds": counters.SpawnRuns(),
		"plugin_duration_seconds": counters.PluginRuns(), "policy_evaluation_seconds": counters.Evaluations(),
		"task_rounds": counters.TaskRounds(),
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{
			"question_wait_seconds", "spawn_duration_seconds", "plugin_duration_seconds", "policy_evaluation_seconds", "task_rounds",
		}).Draw(t, "name")
		d := distributions[name]
		f, _ := familyNamed(metrics.Prefix + name)
		theirs := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: f.Name, Buckets: f.Buckets,
			NativeHistogramBucketFactor: 1.1, // The finest resolution that is not finer than 2^(1/8).
		})
		most := int64(1) << rapid.IntRange(1, 40).Draw(t, "bits")
		if d.Scale.Exact {
			most = 150 // An exact scale has at most a thousand cells.
		}
		b := &record{}
		for _, v := range rapid.SliceOf(rapid.Int64Range(0, most)).Draw(t, "values") {
			labels := make([]string, len(d.Labels))
			b.record(d.Observe(counters.Observation{Value: v}, labels...)...)
			theirs.Observe(float64(v) / float64(metrics.Per(f)))
		}
		var want dto.Metric
		if err := theirs.Write(&want); err != nil {
			t.Fatal(err)
		}
		families, err := must(metrics.New(b, metrics.Options{Seed: metrics.Seed{Plugins: []string{""}}})).Gather(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameHistogram(t, family(families, name).Metric[0].Histogram, want.Histogram)
	})
}

func must(c *metrics.Collector, err error) *metrics.Collector {
	if err != nil {
		panic(err)
	}
	return c
}

// sameHistogram compares the observations, but not their times.
func sameHistogram(t *rapid.T, got, want *dto.Histogram) {
	if got.GetSampleCount() != want.GetSampleCount() || got.GetSchema() != want.GetSchema() ||
		got.GetZeroThreshold() != want.GetZeroThreshold() || got.GetZeroCount() != want.GetZeroCount() {
		t.Fatalf("got %v, want %v", got, want)
	}
	// The client library adds floats; we add integers.
	if sum := want.GetSampleSum(); math.Abs(got.GetSampleSum()-sum) > sum*1e-9 {
		t.Fatalf("sum %v, want %v", got.GetSampleSum(), sum)
	}
	if len(got.Bucket) != len(want.Bucket) {
		t.Fatalf("%d buckets, want %d", len(got.Bucket), len(want.Bucket))
	}
	for i, b := range want.Bucket {
		if got.Bucket[i].GetUpperBound() != b.GetUpperBound() || got.Bucket[i].GetCumulativeCount() != b.GetCumulativeCount() {
			t.Fatalf("bucket %d is %v, want %v", i, got.Bucket[i], b)
		}
	}
	if a, b := native(got), native(want); len(a) != len(b) {
		t.Fatalf("native buckets %v, want %v", a, b)
	} else {
		for n, count := range b {
			if a[n] != count {
				t.Fatalf("native buckets %v, want %v", a, b)
			}
		}
	}
}

// native returns the non-empty native buckets of a histogram by number, as the Prometheus
// server reads them.
func native(h *dto.Histogram) map[int32]int64 {
	buckets := make(map[int32]int64)
	var at int32
	var count int64
	deltas := h.PositiveDelta
	for _, s := range h.PositiveSpan {
		at += s.GetOffset()
		for range s.GetLength() {
			if count += deltas[0]; count != 0 {
				buckets[at] = count
			}
			deltas = deltas[1:]
			at++
		}
	}
	return buckets
}
