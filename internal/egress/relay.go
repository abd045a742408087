package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// relay sends each side its first bytes, and then copies in both directions until both have
// ended, no byte was copied for the idle time, or the proxy is closed. It closes both
// connections.
func (p *Proxy) relay(client, upstream net.Conn, toClient, toUpstream []byte) {
	defer func() { _ = client.Close() }()
	defer func() { _ = upstream.Close() }()
	// The listener does the same for the client.
	defer context.AfterFunc(p.ctx, func() { _ = upstream.Close() })()
	// io.Copy lets the kernel copy only if it gets the connections themselves.
	inner := client.(*conn).Conn
	start := time.Now()
	var moved atomic.Int64 // when bytes were last copied, as the time since start
	var group sync.WaitGroup
	group.Go(func() { p.copy(inner, upstream, toClient, start, &moved) })
	p.copy(upstream, inner, toUpstream, start, &moved)
	group.Wait()
}

// copy writes the first bytes, copies src to dst until src ends, and then closes dst for
// writing. If it fails, it closes both.
func (p *Proxy) copy(dst, src net.Conn, first []byte, start time.Time, moved *atomic.Int64) {
	for {
		// io.Copy reports the number of bytes only when it returns. So reads have a short
		// deadline, and writes have the idle time.
		begun := time.Now()
		_ = src.SetReadDeadline(begun.Add(p.idleTimeout / 8))
		_ = dst.SetWriteDeadline(begun.Add(p.idleTimeout))
		_, err := dst.Write(first)
		var n int64
		if err == nil {
			first = nil
			n, err = io.Copy(dst, src)
		}
		if err == nil {
			_ = closeWrite(dst)
			return
		}
		now := time.Now()
		if n > 0 {
			moved.Store(int64(now.Sub(start)))
		}
		idle := now.Sub(start) - time.Duration(moved.Load())
		if !errors.Is(err, os.ErrDeadlineExceeded) || now.Sub(begun) >= p.idleTimeout || idle >= p.idleTimeout {
			_ = dst.Close()
			_ = src.Close()
			return
		}
	}
}

// listener accepts a connection only if fewer than maxConnections are open.
type listener struct {
	net.Listener
	proxy *Proxy
}

func (l *listener) Accept() (net.Conn, error) {
	p := l.proxy
	select {
	case p.slots <- struct{}{}:
	case <-p.ctx.Done():
		return nil, net.ErrClosed
	}
	accepted, err := l.Listener.Accept()
	if err != nil {
		<-p.slots
		return nil, err
	}
	stop := context.AfterFunc(p.ctx, func() { _ = accepted.Close() })
	return &conn{accepted, sync.OnceFunc(func() {
		stop()
		<-p.slots
	})}, nil
}

// conn is a client's connection, which occupies a slot of the proxy.
type conn struct {
	net.Conn
	release func()
}

// CloseWrite lets the server end an answer before it has read the whole request.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error { return c.(interface{ CloseWrite() error }).CloseWrite() }

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
