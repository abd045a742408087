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

// newHandler serves the three pages. The patterns reject methods other than GET and HEAD.
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

type scrapes struct {
	gather  func(context.Context) ([]*dto.MetricFamily, error)
	timeout time.Duration
	places  chan struct{} // one element per running scrape
	watch   *errorTransitions
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := s.gathered(r)
	if page == nil {
		return // The client is gone, which is not a failure.
	}
	maps.Copy(w.Header(), page.header)
	w.WriteHeader(page.status)
	_, _ = w.Write(page.body.Bytes()) // After gathering, so a slow client blocks no scrape.
}

// gathered returns the answer to a scrape, or nil if the client is gone.
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

// page is a buffered answer.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *page) Header() http.Header { return p.header }

func (p *page) WriteHeader(status int) { p.status = status }

func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// placeWait is how long a scrape waits for another one to end, which takes milliseconds.
const placeWait = 3 * time.Second

// leastTime is the minimum timeout of a scrape. With less, any client could make scrapes
// fail, each with a warning.
const leastTime = 250 * time.Millisecond

// within returns the timeout of a scrape: the one that Prometheus announces, less a tenth
// for the network, if it is shorter than our own.
func (s *scrapes) within(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || !(seconds > 0 && seconds < s.timeout.Seconds()) {
		return s.timeout
	}
	return max(time.Duration(seconds*0.9*float64(time.Second)), min(leastTime, s.timeout))
}

// health reports whether scrapes would succeed.
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

// unavailable answers that there are no metrics right now. It shows only the code; the
// message names files and is for the operator.
func unavailable(w http.ResponseWriter, err error) {
	http.Error(w, "no metrics right now ["+string(codeOf(err))+"]", http.StatusServiceUnavailable)
}

// codeOf returns a code for every error: if a ledger is locked for longer than a scrape
// may take, the scrape's context ends first, which has no code.
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
