package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
)

// upstreamOf returns the proxy through which a target is reached, or nil for a direct
// connection.
func (p *Proxy) upstreamOf(t target) (*url.URL, error) {
	if p.options.Upstream == nil || isLoopback(t.host) {
		return nil, nil
	}
	if addr, err := netip.ParseAddr(t.host); err == nil && isForbidden(addr) {
		return nil, nil // connect refuses a direct connection to it.
	}
	return p.options.Upstream(&url.URL{Scheme: "https", Host: t.String()})
}

// connectThrough opens a tunnel through another proxy (RFC 9110, 9.3.6).
func (p *Proxy) connectThrough(ctx context.Context, through *url.URL, t target) (net.Conn, error) {
	port := map[string]string{"http": "80", "https": "443"}[through.Scheme]
	if port == "" {
		return nil, fmt.Errorf("the proxy of this machine has the scheme %q; http and https can be used", through.Scheme)
	}
	conn, err := p.dial(ctx, "tcp", net.JoinHostPort(through.Hostname(), cmp.Or(through.Port(), port)))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	tunneled := conn
	if through.Scheme == "https" {
		tunneled = tls.Client(conn, &tls.Config{ServerName: through.Hostname()})
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: t.String()}, Host: t.String(), Header: http.Header{}}
	if user := through.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	answer, err := tunnel(tunneled, request)
	switch {
	case !stop():
		err = context.Cause(ctx)
	case err == nil && answer.StatusCode != http.StatusOK:
		err = fmt.Errorf("the proxy of this machine answers %s", answer.Status)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return tunneled, nil
}

// tunnel requests a tunnel. It reads the answer byte by byte, so that the bytes after it stay
// unread.
func tunnel(conn net.Conn, request *http.Request) (*http.Response, error) {
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReaderSize(&byteReader{conn, maxHeader}, 16), request)
}

// byteReader reads one byte at a time, and at most left bytes.
type byteReader struct {
	net.Conn
	left int
}

func (r *byteReader) Read(b []byte) (int, error) {
	if r.left--; r.left < 0 {
		return 0, fmt.Errorf("its answer has more than %d bytes", maxHeader)
	}
	return r.Conn.Read(b[:min(len(b), 1)])
}
