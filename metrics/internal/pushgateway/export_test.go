package pushgateway

import "net/http"

// GroupURL returns the URL of a target's group.
func GroupURL(t Target) string { return t.group().String() }

// Through makes requests use the given transport.
func Through(o Options, transport http.RoundTripper) Options {
	o.transport = transport
	return o
}
