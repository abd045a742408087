package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// clean makes a text from a report, a plugin or the file system safe to show on
// a terminal: it can neither move the cursor nor reverse the reading order.
// White space becomes a space, and anything else that is not meant to be seen
// becomes its code point in angle brackets.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as nearly every text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func unseen(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.IsSpace(r) && r != ' '
}

// when shortens the time of an event to seconds; JSON has all of it.
func when(at string) string {
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		return t.Format(time.RFC3339)
	}
	return at
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// short cuts s to width code points, marking the cut; 0 means no limit.
func short(s string, width int) string {
	if width <= 0 || len(s) <= width {
		return s // It has no more code points than bytes.
	}
	points := []rune(s)
	if len(points) <= width {
		return s
	}
	return string(points[:max(width-1, 0)]) + "…"
}

// size writes a number of bytes.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return plural(int(n), "byte")
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
