package metrics

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exporter"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// DefaultAddress is the default of ServeOptions.Address.
const DefaultAddress = exporter.DefaultAddress

// Listening has the address at which metrics are served.
type Listening = exporter.Listening

// CheckAddress returns an error if an address to listen on is not HOST:PORT.
func CheckAddress(address string) error { return exporter.CheckAddress(address) }

// ServeOptions configure Serve.
type ServeOptions = exporter.ServeOptions

// Serve answers scrapes of the project's metrics. When ctx is done, it lets running scrapes
// finish and returns nil.
//
// # Errors
//
// Before ServeOptions.Started is called: web-config-invalid, listen-failed, and the errors of
// Collector and Gather.
func (p Project) Serve(ctx context.Context, o ServeOptions) error {
	source := &guardedSource{Source: p.Engine}
	s := &refresher{fresh: func(ctx context.Context) (*Collector, error) { return p.collector(ctx, source, nil) }}
	if _, err := s.gather(ctx); err != nil {
		return err
	}
	return exporter.Run(ctx, exporter.Options{ServeOptions: o, Gather: s.gather})
}

// maxAge limits the delay until the seeded series show a change of the configuration or of
// the policy.
const maxAge = time.Minute

// refresher gathers from a collector that it replaces after maxAge. It is safe for concurrent
// use.
type refresher struct {
	fresh func(context.Context) (*Collector, error)

	mu    sync.Mutex // guards the rest
	last  *Collector
	until time.Time
}

func (s *refresher) gather(ctx context.Context) ([]*dto.MetricFamily, error) {
	c, err := s.collector(ctx)
	if err != nil {
		return nil, err
	}
	return c.Gather(ctx)
}

// collector returns a collector that is not older than maxAge. If a new one fails, because the
// configuration is broken, it returns the last one.
func (s *refresher) collector(ctx context.Context) (*Collector, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.After(s.until) {
		c, err := s.fresh(ctx)
		if err != nil && s.last == nil {
			return nil, err
		}
		if err == nil {
			s.last = c
		}
		s.until = now.Add(maxAge)
	}
	return s.last, nil
}

// guardedSource is a source for long-running exporters. It fails if a ledger that had events
// is gone. It is safe for concurrent use.
type guardedSource struct {
	Source
	seen atomic.Bool
}

func (s *guardedSource) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	seen := s.seen.Load() // Before the query: another scrape may see the first event during it.
	t, err := s.Source.Counters(ctx, queries...)
	if err != nil {
		return t, err
	}
	if t.Events > 0 {
		s.seen.Store(true)
	} else if seen {
		return ledger.Counters{}, errs.New(errs.MetricsLedgerGone, "the ledger does not exist anymore")
	}
	return t, nil
}
