package textutil

import (
	"math"
	"time"
)

// Millis formats a number of milliseconds as time.Duration does, such as 1m30s.
func Millis(n int64) string {
	return (time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond).String()
}

// ParseMillis reads a duration as time.ParseDuration does, in whole milliseconds. It
// reports whether it is valid and positive.
func ParseMillis(text string) (n int64, ok bool) {
	d, err := time.ParseDuration(text)
	n = d.Milliseconds()
	return n, err == nil && n > 0
}
