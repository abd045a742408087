package render

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// runeColumns returns the width of a character in columns of a terminal: 0 for a
// combining mark and the later parts of a Hangul syllable, 2 for a wide character.
func runeColumns(r rune) int {
	switch {
	case r >= ' ' && r <= '~':
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r >= 0x1160 && r <= 0x11ff:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// columns returns the width of a line in columns of a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// leading splits a line after as much of it as fits into limit columns, but at least
// one character.
func leading(s string, limit int) (head, rest string) {
	n := 0
	for i, r := range s {
		if n += runeColumns(r); n > limit && i > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// trailing returns the end of a line that fits into limit columns.
func trailing(s string, limit int) string {
	for columns(s) > limit {
		_, s = leading(s, 0)
	}
	return s
}

// Fit cuts a line to limit columns, marking the cut; 0 means no limit.
func Fit(s string, limit int) string {
	if limit <= 0 || columns(s) <= limit {
		return s
	}
	if limit < 3 { // A wide character next to the mark needs three.
		return "…"
	}
	head, _ := leading(s, limit-1)
	return head + "…"
}

// fitMiddle cuts a path to limit columns by omitting its middle: the file's name at the
// end matters most, then the first directory.
func fitMiddle(s string, limit int) string {
	if limit <= 0 || columns(s) <= limit {
		return s
	}
	end := trailing(s, limit*2/3)
	return Fit(s, limit-columns(end)) + end
}

// wrap breaks a line into lines of at most limit columns, between words if possible; 0
// means no limit. It returns at least one line.
func wrap(s string, limit int) []string {
	if limit <= 0 || columns(s) <= limit {
		return []string{s}
	}
	var lines []string
	line := ""
	for word := range strings.SplitSeq(s, " ") {
		if line != "" && columns(line)+1+columns(word) <= limit {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for columns(word) > limit {
			var head string
			head, word = leading(word, limit)
			lines = append(lines, head)
		}
		line = word
	}
	return append(lines, line)
}

// splits reports whether wrap would break a word of the line.
func splits(s string, limit int) bool {
	return slices.ContainsFunc(strings.Split(s, " "), func(word string) bool { return columns(word) > limit })
}
