package exporter

import (
	"cmp"
	"time"
)

// HeaderTime limits the time for reading a request's header, unless o has a limit.
func HeaderTime(o Options, limit time.Duration) Options {
	o.head = cmp.Or(o.head, limit)
	return o
}
