// Package exporter answers scrapes over HTTP.
//
// The server is that of Prometheus' exporter toolkit, whose web configuration file
// brings TLS and passwords; the formats are those that promhttp negotiates: text,
// OpenMetrics with exemplars and creation times, and protocol buffers with native
// histograms. It keeps nothing between scrapes: each gathers anew.
//
// What the server reads of its clients is bounded in time and size, and so are
// connections, scrapes and checks of passwords at a time. A client that is idle, slow or
// does not read makes room for the next one.
package exporter

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The defaults of Options.
const (
	DefaultAddress = "127.0.0.1:9464"
	DefaultTimeout = 10 * time.Second
	DefaultGrace   = 5 * time.Second
	DefaultScrapes = 4
)

// The limits of what clients may take up.
const (
	maxConnections = 64
	maxHeader      = 16 << 10 // bytes
	headTime       = 5 * time.Second
	idleTime       = 2 * time.Minute
)

// Options are how scrapes are served. Gather is needed; a zero elsewhere is the
// default.
type Options struct {
	// Address is HOST:PORT. Port 0 takes a free one, no host takes all of the
	// machine's.
	Address string
	// WebConfig is the toolkit's web configuration file, "" for none. It and the
	// certificates that it names are read again while serving.
	WebConfig string
	// Gather returns the metrics of one moment. It is called once a scrape, from
	// several goroutines, and ends soon after its context.
	Gather func(ctx context.Context) ([]*dto.MetricFamily, error)
	// Ready says whether Gather would work right now, more cheaply. It is Gather by
	// default.
	Ready func(ctx context.Context) error
	// Started is told once, when scrapes are answered.
	Started func(Listening)
	// Warn is told what goes wrong while serving, one at a time: when scrapes begin
	// to fail and not at each, and no faster than one a second of anything else.
	Warn func(error)
	// Timeout is how long a scrape may take where the scraper does not want it
	// sooner.
	Timeout time.Duration
	// Grace is how long scrapes may go on when serving ends.
	Grace time.Duration
	// Scrapes is how many may run at a time. Those beyond are turned away.
	Scrapes int

	// head is how long a request's head may take, headTime but for tests.
	head time.Duration
}

// Listening is where scrapes are served.
type Listening struct {
	// URL is that of the metrics, with the port that was taken.
	URL string
	// Open says that the address is not the machine's own, and no web
	// configuration protects it.
	Open bool
}

// Run serves until ctx is done, and lets the scrapes that run then come to their
// end. That is no error.
//
// # Errors
//
// web-config-invalid and listen-failed, before Options.Started.
func Run(ctx context.Context, o Options) error {
	o = o.filled()
	scheme, err := checkWebConfig(o.WebConfig)
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
	quiet := newRateLimitedHandler(o.Warn)
	server := &http.Server{
		Handler:           newHandler(o),
		ReadHeaderTimeout: o.head,
		ReadTimeout:       o.head,
		WriteTimeout:      o.Timeout + headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(quiet, slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return scrapes },
		ConnContext:       withConnection,
	}
	limited := &connections{Listener: l, serving: func() {
		// The toolkit has put its handler, which checks the passwords, before ours.
		server.Handler = newGuard(server.Handler, namesOf(o.Address, address.IP))
	}}
	ended := make(chan error, 1)
	go func() {
		noAddresses, noSocket := []string{}, false
		flags := &web.FlagConfig{WebListenAddresses: &noAddresses, WebSystemdSocket: &noSocket, WebConfigFile: &o.WebConfig}
		ended <- web.Serve(limited, server, flags, slog.New(quiet))
	}()
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
	return errs.New(errs.ListenFailed, "stop serving %s: %w", o.Address, err).With("address", o.Address).With("problem", problemUnusable)
}

func (o Options) filled() Options {
	if o.Address == "" {
		o.Address = DefaultAddress
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Scrapes <= 0 {
		o.Scrapes = DefaultScrapes
	}
	if o.head <= 0 {
		o.head = headTime
	}
	if o.Ready == nil {
		gather := o.Gather
		o.Ready = func(ctx context.Context) error {
			_, err := gather(ctx)
			return err
		}
	}
	if o.Started == nil {
		o.Started = func(Listening) {}
	}
	warn, one := o.Warn, new(sync.Mutex)
	o.Warn = func(err error) {
		if warn != nil {
			one.Lock()
			defer one.Unlock()
			warn(err)
		}
	}
	return o
}
