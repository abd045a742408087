// Package egress is an HTTP proxy that connects only to the hosts of a list, and records
// refused requests. It is the only way from a confined agent to the network.
//
// The proxy sees the name and the port of a host, but not the content. An agent can send
// anything that it can read to an allowed host. The proxy does not detect a CONNECT within a
// tunnel, or a different name in TLS (domain fronting): the allowed host must refuse them.
package egress

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const (
	maxConnections = 256
	maxHeader      = 32 << 10
	maxRefusals    = 100

	headerTimeout = 10 * time.Second
	dialTimeout   = 10 * time.Second
	// idleTimeout is long because a model can think for minutes before it answers.
	idleTimeout = 15 * time.Minute
)

// Resolver looks up the addresses of a name, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are the settings of a Proxy.
type Options struct {
	Allow    Allow
	Resolver Resolver // net.DefaultResolver, except in tests
	// Upstream returns the proxy through which a host is reached according to the user's
	// environment, or nil for a direct connection. It may be nil. That proxy resolves names.
	Upstream func(host *url.URL) (*url.URL, error)
}

// Proxy connects confined agents to the hosts of a list. At most 256 connections are open at a
// time; more connections wait.
type Proxy struct {
	options Options
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	server  *http.Server

	dialTimeout, idleTimeout time.Duration

	ctx    context.Context // done when the proxy is closed
	cancel context.CancelFunc
	closed sync.Once
	slots  chan struct{} // has an element for every open connection

	mu      sync.Mutex
	own     []netip.AddrPort // the addresses at which the proxy listens
	refused map[Refusal]int  // by Refusal without Count
}

// Refusal is a host to which an agent's request was refused.
type Refusal struct {
	Host   string // with the port, if the agent gave one
	Reason string
	Count  int
}

// New returns a proxy that must be closed.
func New(o Options) *Proxy {
	p := &Proxy{
		options:     o,
		dial:        (&net.Dialer{}).DialContext,
		dialTimeout: dialTimeout,
		idleTimeout: idleTimeout,
		slots:       make(chan struct{}, maxConnections),
		refused:     make(map[Refusal]int),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler:                      http.HandlerFunc(p.handle),
		DisableGeneralOptionsHandler: true, // it would answer OPTIONS *
		ReadHeaderTimeout:            headerTimeout,
		// A client that was refused may never send the rest of its request. The limit ends
		// with Hijack.
		ReadTimeout:    headerTimeout + dialTimeout,
		MaxHeaderBytes: maxHeader - 4<<10, // the server adds 4 KiB
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	p.server.SetKeepAlivesEnabled(false)
	return p
}

// Serve accepts requests from a listener, and closes it at the end. If ctx is done, Serve
// closes the proxy. It returns nil when all connections of a closed proxy have ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		p.mu.Lock()
		p.own = append(p.own, unmap(a.AddrPort()))
		p.mu.Unlock()
	}
	return p.untilClosed(ctx, l, p.server.Serve)
}

// Forward connects each client of a listener with a port of this machine's loopback interface:
// with the first address that the user listed with the port and that accepts the connection.
// The listener may have the same address in the agent's network. Forward ends in the same way
// as Serve.
//
// # Errors
//
// confine-host-invalid if the user did not list the port.
func (p *Proxy) Forward(ctx context.Context, l net.Listener, port uint16) error {
	targets := p.options.Allow.loopback(port)
	if len(targets) == 0 {
		host := target{"localhost", port}.String()
		return errs.New(errs.ConfineHostInvalid, "the host %q cannot be reached from within: the user did not list it", host).With("host", host)
	}
	return p.untilClosed(ctx, l, func(l net.Listener) error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			go func() {
				for _, t := range targets {
					if upstream, err := p.connect(t, true); err == nil {
						p.relay(c, upstream, nil, nil)
						return
					}
				}
				_ = c.Close()
			}()
		}
	})
}

func (p *Proxy) untilClosed(ctx context.Context, l net.Listener, accept func(net.Listener) error) error {
	defer context.AfterFunc(ctx, p.Close)()
	defer context.AfterFunc(p.ctx, func() { _ = l.Close() })()
	err := accept(&listener{l, p})
	if p.ctx.Err() != nil {
		p.Close()
		return nil
	}
	return err
}

// Close closes all listeners and connections, and waits until they have ended.
func (p *Proxy) Close() {
	p.closed.Do(func() {
		p.cancel()
		for range maxConnections {
			p.slots <- struct{}{}
		}
	})
}

// Refused returns the refusals, sorted by host. It has at most 100 entries; the one without a
// host counts all others. A request that is not valid HTTP is not counted.
func (p *Proxy) Refused() []Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Refusal
	for r, n := range p.refused {
		r.Count = n
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	isConnect := r.Method == http.MethodConnect
	text, defaultPort := r.RequestURI, uint16(0)
	if !isConnect {
		text, defaultPort = r.URL.Host, 80
	}
	t, err := parseTarget(text, defaultPort)
	user, listed := p.options.Allow.permits(t)
	status, reason := 0, ""
	switch {
	case !isConnect && (r.URL.Scheme != "http" || r.URL.User != nil):
		status, reason = http.StatusBadRequest, "the request is not for a proxy, which takes CONNECT host:port and GET http://host:port/"
	case !isConnect && !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method):
		status, reason = http.StatusMethodNotAllowed, "the method is not allowed"
	case isConnect && r.ContentLength != 0:
		// The content could be mistaken for the beginning of the tunnel.
		status, reason = http.StatusBadRequest, "a CONNECT has no content"
	case err != nil:
		status, reason = http.StatusBadRequest, err.Error()
	case !listed:
		text = t.String()
		status, reason = http.StatusForbidden, "the host and port are not on the list"
	case !isConnect && !user:
		text = t.String()
		status, reason = http.StatusForbidden, "the user did not list the host, so it is reached by CONNECT alone"
	}
	if reason != "" {
		// The Host field is only for the record.
		p.recordRefusal(cmp.Or(text, r.Host), reason)
		http.Error(w, reason, status)
		return
	}
	upstream, err := p.connect(t, user)
	if refused, ok := errors.AsType[refusedError](err); ok {
		http.Error(w, string(refused), http.StatusForbidden)
		return
	}
	if err != nil {
		http.Error(w, textutil.Clip(textutil.Line("failed to connect to "+t.String()+": "+err.Error()), 500), http.StatusBadGateway)
		return
	}
	toClient, toUpstream := []byte("HTTP/1.1 200 Connection established\r\n\r\n"), []byte(nil)
	if !isConnect {
		// The rest of the connection goes to the same host, as in a tunnel.
		toClient, toUpstream = nil, requestHead(r)
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = upstream.Close()
		return
	}
	// The client may have sent data before it received the answer.
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	p.relay(client, upstream, toClient, append(toUpstream, early...))
}

// requestHead returns the head of a plain HTTP request in the form that is sent to the host.
// Both connections end with the answer.
func requestHead(r *http.Request) []byte {
	h := r.Header
	for name := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		h.Del(strings.TrimSpace(name))
	}
	for _, name := range []string{"Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Upgrade"} {
		h.Del(name)
	}
	h.Set("Connection", "close")
	switch {
	case r.ContentLength > 0:
		h.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	case r.ContentLength < 0:
		h.Set("Transfer-Encoding", "chunked")
	}
	head := fmt.Appendf(nil, "%s %s HTTP/1.%d\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.ProtoMinor, r.Host)
	var fields bytes.Buffer
	_ = h.Write(&fields)
	return append(append(head, fields.Bytes()...), "\r\n"...)
}

func (p *Proxy) recordRefusal(host, reason string) {
	r := Refusal{Host: textutil.Clip(textutil.Line(host), maxHost+len(":65535")), Reason: reason}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused[r] == 0 && len(p.refused) >= maxRefusals-1 {
		r = Refusal{Reason: "further refusals"}
	}
	p.refused[r]++
}

// refusedError is the reason why the proxy does not connect to any address of a host.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// connect resolves a target of the list, and dials the addresses that it has checked. It does
// not resolve the name again, since the answer could differ then.
func (p *Proxy) connect(t target, user bool) (net.Conn, error) {
	// The context of the request would be done when the client closes its sending side.
	ctx, cancel := context.WithTimeout(p.ctx, p.dialTimeout)
	defer cancel()
	through, err := p.upstreamOf(t)
	if err != nil {
		return nil, fmt.Errorf("choose the proxy: %w", err)
	}
	if through != nil {
		return p.connectThrough(ctx, through, t)
	}
	addrs, err := p.resolve(ctx, t.host)
	if err != nil {
		return nil, err
	}
	var allowed []netip.AddrPort
	var reason string
	for _, a := range addrs {
		address := unmap(netip.AddrPortFrom(a, t.port))
		if r := p.refusalReason(address, user); r != "" {
			reason = r
		} else {
			allowed = append(allowed, address)
		}
	}
	if len(allowed) == 0 {
		p.recordRefusal(t.String(), reason)
		return nil, refusedError(reason)
	}
	for i, address := range allowed {
		// An address that does not answer must leave time for the next ones.
		deadline, _ := ctx.Deadline()
		attempt, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(allowed)-i))
		var c net.Conn
		c, err = p.dial(attempt, "tcp", address.String())
		cancel()
		if err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (p *Proxy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return p.options.Resolver.LookupNetIP(ctx, "ip", host)
}

// refusalReason returns the reason not to connect to an address, or "".
func (p *Proxy) refusalReason(a netip.AddrPort, user bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case isForbidden(a.Addr()):
		return "the address is link-local, multicast, unspecified or of a metadata service"
	case isPrivate(a.Addr()) && !user:
		return "the address is private, and the user did not list the host"
	case slices.Contains(p.own, a):
		return "the address is the proxy's own"
	}
	return ""
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
