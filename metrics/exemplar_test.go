package metrics_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/metrics"
)

// TestExemplarsFit checks that an exemplar has the task and the round if both fit, else
// the task alone, and never half a task.
func TestExemplarsFit(t *testing.T) {
	for name, c := range map[string]struct {
		task  string
		round int
		want  []string
	}{
		"both":                   {"T-1", 7, []string{"round=7", "task=T-1"}},
		"no round":               {"T-1", 0, []string{"task=T-1"}},
		"no task":                {"", 7, nil},
		"both just fit":          {strings.Repeat("x", 128-len("taskround7")), 7, []string{"round=7", "task=" + strings.Repeat("x", 118)}},
		"the round does not fit": {strings.Repeat("x", 119), 7, []string{"task=" + strings.Repeat("x", 119)}},
		"code points count":      {strings.Repeat("é", 118), 7, []string{"round=7", "task=" + strings.Repeat("é", 118)}},
		"the task just fits":     {strings.Repeat("x", 124), 7, []string{"task=" + strings.Repeat("x", 124)}},
		"the task does not fit":  {strings.Repeat("x", 125), 7, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := &record{}
			b.record(counters.QuestionWaits().Observe(counters.Observation{Value: 1500, Task: c.task, Round: c.round})...)
			h := family(gather(t, b, metrics.Options{}), "question_wait_seconds").Metric[0].Histogram
			var got []string
			if len(h.Exemplars) > 0 {
				got = labels(h.Exemplars[0].Label)
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("the exemplar has %q, want %q", got, c.want)
			}
			if text := strings.Join(got, ""); utf8.RuneCountInString(strings.ReplaceAll(text, "=", "")) > 128 {
				t.Errorf("the exemplar is too long: %s", text)
			}
		})
	}
}

func labels(pairs []*dto.LabelPair) []string {
	var all []string
	for _, p := range pairs {
		all = append(all, p.GetName()+"="+p.GetValue())
	}
	return all
}

// TestNewestExemplarOfABucket checks that a classic bucket of several cells has the
// latest exemplar of them.
func TestNewestExemplarOfABucket(t *testing.T) {
	b := &record{}
	// All above 4 s and at most 16 s, in four cells.
	for round, millis := range []int64{5000, 15_000, 7000, 9000, 5000} {
		b.record(counters.QuestionWaits().Observe(counters.Observation{Value: millis, Task: "T", Round: round + 1})...)
	}
	h := family(gather(t, b, metrics.Options{}), "question_wait_seconds").Metric[0].Histogram
	if len(h.Exemplars) != 1 {
		t.Fatalf("there are %d exemplars", len(h.Exemplars))
	}
	e := h.Exemplars[0]
	if got := strings.Join(labels(e.Label), " "); got != "round=5 task=T" || e.GetValue() != 5 || !e.GetTimestamp().AsTime().Equal(began().Add(4e9)) {
		t.Errorf("the exemplar is %s, %v", got, e)
	}
	for _, bucket := range h.Bucket {
		if has := bucket.Exemplar != nil; has != (bucket.GetUpperBound() == 16) {
			t.Errorf("the bucket up to %v has an exemplar: %t", bucket.GetUpperBound(), has)
		}
	}
}

// TestPushesHaveNoExemplars gathers for a Pushgateway.
func TestPushesHaveNoExemplars(t *testing.T) {
	b := &record{}
	b.record(counters.QuestionWaits().Observe(counters.Observation{Value: 5000, Task: "T", Round: 1})...)
	c := collector(t, b, metrics.Options{})
	metrics.WithoutExemplars(c)
	families, err := c.Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := family(families, "question_wait_seconds").Metric[0].Histogram
	if h.GetSampleCount() != 1 || len(h.Exemplars) != 0 {
		t.Errorf("%v", h)
	}
	for _, bucket := range h.Bucket {
		if bucket.Exemplar != nil {
			t.Errorf("the bucket %v has an exemplar", bucket)
		}
	}
}
