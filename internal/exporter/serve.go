// Package exporter answers scrapes over HTTP.
//
// The web configuration file of Prometheus' exporters adds TLS and passwords. promhttp
// negotiates the format: text, OpenMetrics with exemplars and creation times, or protocol
// buffers with native histograms. Every scrape gathers anew.
//
// The data read from clients is limited in time and size, and so are concurrent
// connections, scrapes and password checks. A client that is idle, slow or does not read
// makes room for the next one.
package exporter

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The defaults of Options.
const (
	DefaultAddress = "127.0.0.1:9464"
	defaultTimeout = 10 * time.Second
	defaultGrace   = 5 * time.Second
	defaultScrapes = 4
)

// The limits on clients.
const (
	maxConnections = 64
	maxHeader      = 16 << 10 // bytes
	headTime       = 5 * time.Second
	idleTime       = 2 * time.Minute
)

// ServeOptions configure a server. Started and Warn are required.
type ServeOptions struct {
	// Address is HOST:PORT, DefaultAddress if it is empty. Port 0 takes a free port;
	// without a host the server listens on all addresses.
	Address string
	// WebConfig is the path of a web configuration file of Prometheus' exporters, or "".
	// The file and its certificates are read again while serving.
	WebConfig string
	// Started is called once the server answers scrapes.
	Started func(Listening)
	// Warn is called if scrapes begin to fail, and at most once a second for anything
	// else. Calls do not overlap.
	Warn func(error)
}

// Options configure Run. Gather is required; other zero fields have defaults.
type Options struct {
	ServeOptions
	// Gather returns consistent metrics. It is called once per scrape, from several
	// goroutines, and must end soon after its context.
	Gather func(ctx context.Context) ([]*dto.MetricFamily, error)
	// Timeout limits a scrape, unless the scraper asks for less.
	Timeout time.Duration
	// Grace is how long running scrapes may take after ctx is done.
	Grace time.Duration
	// Scrapes limits concurrent scrapes. Further ones are rejected.
	Scrapes int

	// head limits reading a request's header; tests shorten headTime.
	head time.Duration
}

// Listening is the address of the metrics.
type Listening struct {
	// URL has the actual port.
	URL string
	// Open is true if other machines can reach the address and no web configuration
	// protects it.
	Open bool
}

// Run serves until ctx is done, and then lets running scrapes finish, which is not an
// error.
//
// # Errors
//
// web-config-invalid and listen-failed, before Options.Started.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	secure, closed, err := checkWebConfig(o.WebConfig)
	if err != nil {
		return err
	}
	l, err := listen(ctx, o.Address)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	address := l.Addr().(*net.TCPAddr)

	// Scrapes outlive ctx, by the grace.
	scrapes, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	warnings := &warnings{warn: o.Warn}
	quiet := log.New(warnings, "", 0)
	handler := newHandler(o, warnings)
	if o.WebConfig != "" {
		p := &passwords{path: o.WebConfig, next: handler, log: quiet, trial: make(chan struct{}, 1)}
		p.closed.Store(closed)
		handler = p
	}
	server := &http.Server{
		Handler:           newNames(o.Address, address.IP, handler),
		ReadHeaderTimeout: o.head,
		ReadTimeout:       o.head,
		WriteTimeout:      o.Timeout + headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          quiet,
		BaseContext:       func(net.Listener) context.Context { return scrapes },
		ConnContext:       withConnection,
	}
	limited, scheme := net.Listener(&connections{Listener: l}), "http"
	if secure {
		scheme = "https"
		limited = tls.NewListener(limited, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			_, config, err := readWebConfig(o.WebConfig)
			if err == nil && config == nil {
				err = errors.New("the web configuration has no TLS any more")
			}
			return config, err
		}})
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limited) }()
	o.Started(Listening{
		URL:  scheme + "://" + address.String() + "/metrics",
		Open: o.WebConfig == "" && !address.IP.IsLoopback(),
	})
	select {
	case err = <-ended:
	case <-ctx.Done():
		shut, cancel := context.WithTimeout(scrapes, o.Grace)
		defer cancel()
		if server.Shutdown(shut) != nil {
			_ = server.Close()
		}
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return errs.New(errs.ListenFailed, "failed to serve %s: %w", o.Address, err).With("address", o.Address)
}

func (o Options) withDefaults() Options {
	o.Address = cmp.Or(o.Address, DefaultAddress)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Scrapes = cmp.Or(o.Scrapes, defaultScrapes)
	o.head = cmp.Or(o.head, headTime)
	return o
}
