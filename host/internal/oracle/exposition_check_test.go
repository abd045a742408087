package oracle

import (
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// TestWhatIsNotRecounted checks that a Switchyard metric without a recount is reported,
// even if it is 0.
func TestWhatIsNotRecounted(t *testing.T) {
	t.Parallel()
	text := exposition(exampleText, "") + `switchyard_made_up_total{x="y"} 0` + "\n" + `switchyard_tasks_count 0` + "\n" +
		`switchyard_rounds_total{next_action="nowhere",policy_version="1.0.0"} 0` + "\n"
	if got := differences(t, example(), text); !slices.Equal(got, []string{`switchyard_made_up_total{x="y"}`, "switchyard_tasks_count"}) {
		t.Errorf("these differ: %q", got)
	}
}

// gathered returns families of a ledger with two decisions: the first took 0 µs to
// evaluate, the second 3 µs.
func gathered(since time.Time, schema *int32, cells ...int64) []*dto.MetricFamily {
	created := timestamppb.New(since)
	bucket := []*dto.Bucket{}
	for _, border := range []float64{0x1p-16, 0x1p-14, 0x1p-12, 0x1p-10, 0x1p-8, 0x1p-6, 0x1p-4, 0x1p-2, 1, 4} {
		bucket = append(bucket, &dto.Bucket{UpperBound: &border, CumulativeCount: proto.Uint64(2)})
	}
	// log2(3e-6)*8 = -146.8, so it is in cell -146, after two empty cells.
	spans := []*dto.BucketSpan{{Offset: proto.Int32(-148), Length: proto.Uint32(uint32(len(cells)))}}
	return []*dto.MetricFamily{
		{Name: proto.String("switchyard_ledger_events_total"), Type: dto.MetricType_COUNTER.Enum(), Metric: []*dto.Metric{
			{Counter: &dto.Counter{Value: proto.Float64(2), CreatedTimestamp: created}},
		}},
		{Name: proto.String("switchyard_policy_evaluation_seconds"), Type: dto.MetricType_HISTOGRAM.Enum(), Metric: []*dto.Metric{{Histogram: &dto.Histogram{
			SampleCount: proto.Uint64(2), SampleSum: proto.Float64(0.000003), Bucket: bucket, CreatedTimestamp: created,
			Schema: schema, ZeroCount: proto.Uint64(1), PositiveSpan: spans, PositiveDelta: cells,
		}}}},
	}
}

// TestNativeHistograms compares cells and creation times one by one.
func TestNativeHistograms(t *testing.T) {
	t.Parallel()
	h := newHistory()
	for _, took := range []string{"0", "3"} {
		h.add(0, "A", "round-decided", `{"event": {"round": 1, "next_round": 1, "next_action": "executor", "kind": "agent", "verify": "green"},
			"decision": {"next_action": "executor"}, "timing": {"policy_us": `+took+`}}`)
	}
	const metric = "switchyard_policy_evaluation_seconds"
	for name, c := range map[string]struct {
		families []*dto.MetricFamily
		want     []string
	}{
		"right":       {gathered(h.start, proto.Int32(3), 0, 0, 1), nil},
		"none":        {gathered(h.start, nil), nil},
		"beside":      {gathered(h.start, proto.Int32(3), 0, 1, -1), []string{metric + `_bucket{cell="-146"}`, metric + `_bucket{cell="-147"}`}},
		"too many":    {gathered(h.start, proto.Int32(3), 1, -1, 1), []string{metric + `_bucket{cell="-148"}`}},
		"another day": {gathered(h.start.Add(time.Millisecond), proto.Int32(3), 0, 0, 1), []string{"switchyard_ledger_events_total_created", metric + "_created"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, err := Gathered(c.families)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range h.recount(t).Compare(x).Differences {
				if strings.HasPrefix(d.Metric, metric) || strings.HasSuffix(d.Metric, "_created") {
					got = append(got, d.String())
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("these differ: %q, want %q", got, c.want)
			}
		})
	}
}
