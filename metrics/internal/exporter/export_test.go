package exporter

import "time"

// Hurried gives clients less time for the head of a request.
func Hurried(o Options, head time.Duration) Options {
	o.head = head
	return o
}
