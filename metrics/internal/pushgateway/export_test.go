package pushgateway

import "net/http"

// GroupURL is where a target's group is.
func GroupURL(t Target) string { return t.group().String() }

// Through has requests carried by a transport of the test's.
func Through(o Options, transport http.RoundTripper) Options {
	o.transport = transport
	return o
}
