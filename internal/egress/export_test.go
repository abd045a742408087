package egress

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Dial replaces the dialer.
func (p *Proxy) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	p.dial = dial
}

// Hurry shortens the timeouts.
func (p *Proxy) Hurry(header, dial, idle time.Duration) {
	p.server.ReadHeaderTimeout = header
	p.server.ReadTimeout = header + dial
	p.dialTimeout, p.idleTimeout = dial, idle
}

// Permits reports whether a request for HOST:PORT is permitted, and whether by a host of
// the user. Its last result is the host and port in normal form.
func (a Allow) Permits(text string) (user, ok bool, normal string) {
	t, err := parseTarget(text, 0)
	if err != nil {
		return false, false, ""
	}
	user, ok = a.permits(t)
	return user, ok, t.String()
}

// Class says how an address is treated.
func Class(a netip.Addr) string {
	switch {
	case isForbidden(a):
		return "forbidden"
	case isPrivate(a):
		return "private"
	}
	return "public"
}
