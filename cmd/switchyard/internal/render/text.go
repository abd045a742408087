package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Time shortens the time of an event to seconds; JSON has all of it.
func Time(at string) string {
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		return t.Format(time.RFC3339)
	}
	return at
}

// Size formats a number of bytes.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return textutil.Count(int(n), "byte")
	case n < 1<<20:
		return tenths(n, 1<<10) + " KiB"
	default:
		return tenths(n, 1<<20) + " MiB"
	}
}

// tenths formats n/unit with one decimal, unless that is 0.
func tenths(n, unit int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit)), ".0")
}
