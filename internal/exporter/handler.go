package exporter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// newHandler returns a handler for the metrics and the health check. The patterns reject
// methods other than GET and HEAD.
func newHandler(o Options, w *warnings) http.Handler {
	s := &scrapes{gather: o.Gather, timeout: o.Timeout, places: make(chan struct{}, o.Scrapes), warnings: w}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.handler(showMetrics))
	mux.Handle("GET /healthz", s.handler(showHealth))
	return mux
}

// scrapes gathers for requests.
type scrapes struct {
	gather   func(context.Context) ([]*dto.MetricFamily, error)
	timeout  time.Duration
	places   chan struct{} // one element per running scrape
	warnings *warnings
}

// handler gathers the metrics for a request and then calls show. It writes only after it has
// gathered, so that a slow client does not block other scrapes.
func (s *scrapes) handler(show func(http.ResponseWriter, *http.Request, []*dto.MetricFamily)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.places <- struct{}{}:
		case <-r.Context().Done():
			return
		case <-time.After(placeWait):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many scrapes are running", http.StatusServiceUnavailable)
			return
		}
		families, err := s.gatherFor(r)
		if r.Context().Err() != nil {
			return // The client is gone, which is not a failure.
		}
		s.warnings.update(err)
		if err != nil {
			// The message names files and is for the operator.
			http.Error(w, "no metrics right now ["+string(codeOf(err))+"]", http.StatusServiceUnavailable)
			return
		}
		show(w, r, families)
	}
}

// gatherFor gathers the metrics for a request, and then gives back its place.
func (s *scrapes) gatherFor(r *http.Request) ([]*dto.MetricFamily, error) {
	defer func() { <-s.places }()
	defer useConnection(r.Context())()
	ctx, cancel := context.WithTimeout(r.Context(), s.timeoutFor(r.Header))
	defer cancel()
	return s.gather(ctx)
}

func showMetrics(w http.ResponseWriter, r *http.Request, families []*dto.MetricFamily) {
	gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(gathered, promhttp.HandlerOpts{
		EnableOpenMetrics:                   true,
		EnableOpenMetricsTextCreatedSamples: true,
	}).ServeHTTP(w, r)
}

func showHealth(w http.ResponseWriter, _ *http.Request, _ []*dto.MetricFamily) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// placeWait is the time that a scrape waits for another one, which takes milliseconds.
const placeWait = 3 * time.Second

// leastTime is the minimum timeout of a scrape. With less, any client could make scrapes
// fail, each with a warning.
const leastTime = 250 * time.Millisecond

// timeoutFor returns the timeout of a scrape: the one that Prometheus announces, less a
// tenth for the network, if it is shorter than our own.
func (s *scrapes) timeoutFor(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || !(seconds > 0 && seconds < s.timeout.Seconds()) {
		return s.timeout
	}
	return max(time.Duration(seconds*0.9*float64(time.Second)), min(leastTime, s.timeout))
}

// codeOf returns a code for every error. The error of an expired context has no code, for
// example if the ledger is locked for longer than a scrape may take.
func codeOf(err error) errs.Code {
	switch code := errs.CodeOf(err); {
	case code != "":
		return code
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "internal"
	}
}
