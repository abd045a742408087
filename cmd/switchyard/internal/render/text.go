package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Clean makes a text from a report, a plugin or the file system safe to show in a
// line of a terminal.
func Clean(s string) string { return textutil.Line(s) }

// Time shortens the time of an event to seconds; JSON has all of it.
func Time(at string) string {
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		return t.Format(time.RFC3339)
	}
	return at
}

// Count writes a count with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Clip cuts s to limit code points, marking the cut; 0 means no limit.
func Clip(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s // It has no more code points than bytes.
	}
	points := []rune(s)
	if len(points) <= limit {
		return s
	}
	return string(points[:max(limit-1, 0)]) + "…"
}

// Size writes a number of bytes.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return Count(int(n), "byte")
	case n < 1<<20:
		return tenths(n, 1<<10) + " KiB"
	default:
		return tenths(n, 1<<20) + " MiB"
	}
}

// tenths writes n/unit with one decimal, unless that is 0.
func tenths(n, unit int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit)), ".0")
}
