package exporter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// newHandler answers for the three pages that there are. What is no GET or HEAD is
// turned away by the patterns.
func newHandler(o Options) http.Handler {
	w := &errorTransitions{warn: o.Warn}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", landing)
	mux.Handle("GET /healthz", &health{ready: o.Ready, timeout: o.Timeout, watch: w})
	mux.Handle("GET /metrics", &scrapes{gather: o.Gather, timeout: o.Timeout, places: make(chan struct{}, o.Scrapes), watch: w})
	return mux
}

// Handler answers every request with the metrics.
func Handler(o Options) http.Handler {
	o = o.filled()
	return &scrapes{gather: o.Gather, timeout: o.Timeout, places: make(chan struct{}, o.Scrapes), watch: &errorTransitions{warn: o.Warn}}
}

// scrapes answers them.
type scrapes struct {
	gather  func(context.Context) ([]*dto.MetricFamily, error)
	timeout time.Duration
	places  chan struct{} // one element a scrape that runs
	watch   *errorTransitions
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := s.gathered(r)
	if page == nil {
		return // The client has gone, which is no failure.
	}
	maps.Copy(w.Header(), page.header)
	w.WriteHeader(page.status)
	_, _ = w.Write(page.body.Bytes()) // however slowly the client reads, no scrape waits for it
}

// gathered is the answer to a scrape, nil if the client has gone.
func (s *scrapes) gathered(r *http.Request) *page {
	w := &page{header: make(http.Header), status: http.StatusOK}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-r.Context().Done():
		return nil
	case <-time.After(placeWait):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "as many scrapes run as may", http.StatusServiceUnavailable)
		return w
	}
	defer useConnection(r.Context())()
	ctx, cancel := context.WithTimeout(r.Context(), s.within(r.Header))
	defer cancel()
	families, err := s.gather(ctx)
	if r.Context().Err() != nil {
		return nil
	}
	s.watch.update(err)
	if err != nil {
		unavailable(w, err)
		return w
	}
	gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(gathered, promhttp.HandlerOpts{
		EnableOpenMetrics:                   true,
		EnableOpenMetricsTextCreatedSamples: true,
	}).ServeHTTP(w, r)
	return w
}

// page is an answer that is not sent yet.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *page) Header() http.Header { return p.header }

func (p *page) WriteHeader(status int) { p.status = status }

func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// placeWait is how long a scrape waits until another one comes to its end, which takes
// milliseconds.
const placeWait = 3 * time.Second

// leastTime is how long a scrape may take at the least. With less, any client could
// make scrapes fail, one by one, and tell the operator of each.
const leastTime = 250 * time.Millisecond

// within is how long a scrape may take: what Prometheus says that it waits, less a
// tenth for the way, if that is sooner than our own limit.
func (s *scrapes) within(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || !(seconds > 0 && seconds < s.timeout.Seconds()) {
		return s.timeout
	}
	return max(time.Duration(seconds*0.9*float64(time.Second)), min(leastTime, s.timeout))
}

// health answers whether scrapes would be answered.
type health struct {
	ready   func(context.Context) error
	timeout time.Duration
	watch   *errorTransitions
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), h.timeout)
	defer cancel()
	err := h.ready(ctx)
	if r.Context().Err() != nil {
		return
	}
	h.watch.update(err)
	if err != nil {
		unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// unavailable says that there are no metrics right now. The code is enough for
// whoever asks; the message names files, and is for the operator.
func unavailable(w http.ResponseWriter, err error) {
	http.Error(w, "no metrics right now ["+string(codeOf(err))+"]", http.StatusServiceUnavailable)
}

// codeOf names every error: a ledger that is locked for longer than a scrape may take
// has no code of its own, because the scrape's time ends first.
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

func landing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = io.WriteString(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Switchyard metrics</title>
<h1>Switchyard metrics</h1>
<p><a href="metrics">metrics</a> for Prometheus
<p><a href="healthz">healthz</a>: can they be read right now?
</html>
`)
}
