package exporter

import "time"

// Hurried limits the time for reading a request's header.
func Hurried(o Options, head time.Duration) Options {
	o.head = head
	return o
}
