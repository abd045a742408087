package textutil

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clip returns the first n code points of s, followed by "…" if s has more.
func Clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// Fit is Clip for a column: the result has at most n code points, the "…" included.
func Fit(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return Clip(s, max(n-1, 0))
}

// ClipBytes returns the first n bytes of s, or fewer so as not to split a code point.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// FitBytes is Fit in bytes.
func FitBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return ClipBytes(s, n-len("…")) + "…"
}

// InvalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func InvalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// Count returns a number with its noun: "1 finding", "3 findings". A noun with an
// irregular plural is followed by it: Count(n, "entry", "entries").
func Count[N int | int64](n N, noun string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case len(plural) > 0:
		return fmt.Sprintf("%d %s", n, plural[0])
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

// Strings converts words of a named type to strings.
func Strings[S ~string](words []S) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return all
}

// List joins at most n words with commas, and says how many more there are.
func List(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// PastCap describes how far a round is past a task's cap, or returns "" if it is not. hardCap
// is the task's hard cap, 0 if it is not known.
func PastCap(round, maxRounds, hardCap int) string {
	switch {
	case round <= maxRounds:
		return ""
	case hardCap == 0:
		return fmt.Sprintf("past the cap of %d", maxRounds)
	default:
		return fmt.Sprintf("past the cap of %d, at most %d", maxRounds, hardCap)
	}
}

// AndMore returns " (and N more)" for a list that is shown only in part, or "" if n is 0.
func AndMore(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}
