package exporter

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

// connections is a listener that keeps at most maxConnections open. A further one replaces
// the least recently used connection without a running scrape, so that clients that are
// idle, slow or do not read cannot keep others out.
type connections struct {
	net.Listener

	mu   sync.Mutex
	open []*connection // least recently used first
}

type connection struct {
	net.Conn
	all       *connections
	gathering int // running scrapes; guarded by all.mu
}

func (l *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: accepted, all: l}
		if !l.add(c) {
			_ = accepted.Close()
			continue
		}
		return c, nil
	}
}

// add makes room for c, and reports whether it succeeded.
func (l *connections) add(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == maxConnections {
		i := slices.IndexFunc(l.open, func(c *connection) bool { return c.gathering == 0 })
		if i < 0 {
			return false
		}
		_ = l.open[i].Conn.Close()
		l.open = slices.Delete(l.open, i, i+1)
	}
	l.open = append(l.open, c)
	return true
}

func (c *connection) Close() error {
	c.all.mu.Lock()
	if i := slices.Index(c.all.open, c); i >= 0 {
		c.all.open = slices.Delete(c.all.open, i, i+1)
	}
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// use marks the connection as used, and as gathering until done is called.
func (c *connection) use() (done func()) {
	l := c.all
	l.mu.Lock()
	defer l.mu.Unlock()
	c.gathering++
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = append(slices.Delete(l.open, i, i+1), c)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.gathering--
	}
}

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// withConnection is an http.Server.ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// useConnection calls use for the connection of a request, unless another listener accepted
// the connection.
func useConnection(ctx context.Context) (done func()) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return c.use()
	}
	return func() {}
}
