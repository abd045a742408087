package monitoring

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/common/model"
)

// server is a Prometheus and its HTTP API.
type server struct{ *daemon }

// sample is an element of a vector or a matrix.
type sample struct {
	Metric map[string]string `json:"metric"`
	// Value is the time and the number in quotes.
	Value []jsontext.Value `json:"value"`
	// Histogram is the time and a native histogram.
	Histogram []jsontext.Value `json:"histogram"`
}

// number returns the value of a sample.
func (s sample) number() (float64, error) {
	if len(s.Value) != 2 {
		return 0, fmt.Errorf("%v has no number", s.Metric)
	}
	return numberOf(s.Value[1])
}

// numberOf parses a number in quotes.
func numberOf(v jsontext.Value) (float64, error) {
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// native is a native histogram.
type native struct {
	Count string `json:"count"`
	Sum   string `json:"sum"`
	// Buckets are the non-empty buckets: which bounds are inclusive, the lower and the
	// upper bound, and the count.
	Buckets [][]jsontext.Value `json:"buckets"`
}

// call calls the API and decodes the data of its answer.
func (s server) call(ctx context.Context, path string, query url.Values, data any) error {
	body, err := s.get(ctx, path+"?"+query.Encode())
	if err != nil {
		return err
	}
	var answer struct {
		Status string         `json:"status"`
		Data   jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", path, body)
	}
	return json.Unmarshal(answer.Data, data)
}

// query evaluates an expression at the current time.
func (s server) query(ctx context.Context, expr string) ([]sample, error) {
	var vector struct {
		Result []sample `json:"result"`
	}
	err := s.call(ctx, "/api/v1/query", url.Values{"query": {expr}}, &vector)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return vector.Result, nil
}

// one evaluates an expression with a single value.
func (s server) one(ctx context.Context, expr string) (float64, error) {
	vector, err := s.query(ctx, expr)
	if err != nil {
		return 0, err
	}
	if len(vector) != 1 {
		return 0, fmt.Errorf("%s has %d values", expr, len(vector))
	}
	return vector[0].number()
}

// metrics returns our metrics from one exporter. From native histograms it has the count, the
// sum, and the classic buckets of want that can be derived. It omits the creation times of
// OpenMetrics.
func (s server) metrics(ctx context.Context, w way, want series) (series, error) {
	vector, err := s.query(ctx, `{__name__=~"switchyard_[a-z_]+",__name__!~".+_created",`+w.selector+`}`)
	if err != nil {
		return nil, err
	}
	all := make(series)
	for _, v := range vector {
		name := v.Metric[model.MetricNameLabel]
		if v.Histogram != nil {
			if err := all.addNative(name, v, want); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if le, ok := v.Metric["le"]; ok {
			border, err := strconv.ParseFloat(le, 64)
			if err != nil {
				return nil, err
			}
			v.Metric["le"] = borderText(border)
		}
		number, err := v.number()
		if err != nil {
			return nil, err
		}
		key := keyOf(name, v.Metric)
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("%s came twice by %s, once as %v", key, w.name, v.Metric)
		}
		all[key] = number
	}
	return all, nil
}

// addNative adds the samples of a native histogram.
func (s series) addNative(name string, v sample, want series) error {
	var h native
	if err := json.Unmarshal(v.Histogram[1], &h); err != nil {
		return err
	}
	for suffix, text := range map[string]string{"_count": h.Count, "_sum": h.Sum} {
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		s[keyOf(name+suffix, v.Metric)] = number
	}
	type bucket struct{ lower, upper, count float64 }
	var buckets []bucket
	for _, b := range h.Buckets {
		if len(b) != 4 {
			return fmt.Errorf("a bucket is %s", b)
		}
		var numbers [3]float64
		for i := range numbers {
			var err error
			if numbers[i], err = numberOf(b[i+1]); err != nil {
				return err
			}
		}
		buckets = append(buckets, bucket{numbers[0], numbers[1], numbers[2]})
	}
	for key := range want {
		le, ok := borderIn(key, name, v.Metric)
		if !ok {
			continue
		}
		// Every power of two is a bound of native buckets. Other bounds may lie within
		// a bucket; the exporters with classic buckets test those.
		if frac, _ := math.Frexp(le); !math.IsInf(le, 1) && frac != 0.5 {
			s[key] = want[key]
			continue
		}
		var below float64
		for _, b := range buckets {
			if b.upper <= le*(1+1e-12) {
				below += b.count
			}
		}
		s[key] = below
	}
	return nil
}

// borderIn returns the bound of a classic bucket of that histogram, by its key.
func borderIn(key, name string, labels map[string]string) (float64, bool) {
	if !strings.HasPrefix(key, name+"_bucket{") {
		return 0, false
	}
	_, rest, _ := strings.Cut(key, `le="`)
	text, _, _ := strings.Cut(rest, `"`)
	le, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	with := map[string]string{"le": borderText(le)}
	for name, value := range labels {
		with[name] = value
	}
	return le, keyOf(name+"_bucket", with) == key
}

// alert is a pending or firing alert.
type alert struct {
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
	Value  string            `json:"value"`
}

// alerts lists the alerts.
func (s server) alerts(ctx context.Context) ([]alert, error) {
	var data struct {
		Alerts []alert `json:"alerts"`
	}
	err := s.call(ctx, "/api/v1/alerts", nil, &data)
	return data.Alerts, err
}

// firing returns the names of the alerts that fire for one exporter's metrics.
func (s server) firing(ctx context.Context, w way) (map[string]alert, error) {
	all, err := s.alerts(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]alert)
	for _, a := range all {
		if a.State == "firing" && w.owns(a.Labels) {
			names[a.Labels["alertname"]] = a
		}
	}
	return names, nil
}

// exemplar is an exemplar of a series.
type exemplar struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"`
}

// exemplars lists the exemplars of a series.
func (s server) exemplars(ctx context.Context, selector string) ([]exemplar, error) {
	var data []struct {
		Exemplars []exemplar `json:"exemplars"`
	}
	query := url.Values{"query": {selector}, "start": {"0"}, "end": {"9999999999"}}
	if err := s.call(ctx, "/api/v1/query_exemplars", query, &data); err != nil {
		return nil, err
	}
	var all []exemplar
	for _, one := range data {
		all = append(all, one.Exemplars...)
	}
	return all, nil
}
