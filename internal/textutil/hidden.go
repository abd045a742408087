// Package textutil prepares text for output: it escapes invisible characters, shortens
// long texts and lists, writes counts and suggests corrections.
//
// Text from outside is escaped in every output: the terminal, JSON, and files that
// people or agents read. An invisible character could move a terminal's cursor,
// reverse the reading order, or carry instructions to an agent that its user does not
// see.
package textutil

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// brailleBlank is a symbol to Unicode, but it is blank.
const brailleBlank = '\u2800'

// Hidden reports whether a character has to be escaped: control and format
// characters, all white space except the space, unassigned code points, and printable
// characters without a visible mark, such as variation selectors and fillers.
//
// The joiners and selectors in an emoji sequence are hidden, too: any text can be
// encoded in them.
func Hidden(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false
	}
	return !strconv.IsPrint(r) || r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Line returns s as one line without hidden characters: white space becomes a space,
// invalid UTF-8 becomes U+FFFD, and any other hidden character becomes its code point
// in angle brackets, such as <U+202E>.
func Line(s string) string { return escape(s, "") }

// Lines is Line for a text of several lines: it keeps line ends and tabs.
func Lines(s string) string { return escape(s, "\n\t") }

func escape(s, keep string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case !Hidden(r), strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as almost every text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// AppendJSON appends a character to the contents of a JSON string as \u escapes.
func AppendJSON(dst []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
}

// JSON returns valid JSON with its hidden characters written as \u escapes. The
// decoded value does not change.
func JSON(text []byte) []byte {
	if !slices.ContainsFunc(text, beyondASCII) {
		return text
	}
	return appendSafe(nil, text)
}

// beyondASCII reports whether a byte of JSON may be part of a hidden character. JSON
// strings have no control characters below DEL, and white space between tokens stays.
func beyondASCII(b byte) bool { return b > '~' }

func appendSafe(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r > '~' && Hidden(r) {
			dst = AppendJSON(dst, r)
		} else {
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

type jsonWriter struct {
	w    io.Writer
	rest []byte // the first bytes of a character that the last write split
	text []byte
}

// JSONWriter returns a writer that applies JSON to a stream.
func JSONWriter(w io.Writer) io.Writer { return &jsonWriter{w: w} }

// Write takes any part of a valid JSON text.
func (j *jsonWriter) Write(p []byte) (int, error) {
	text := p
	if len(j.rest) > 0 || slices.ContainsFunc(p, beyondASCII) {
		text = append(j.rest, p...)
		whole := len(text) - partial(text)
		j.text = appendSafe(j.text[:0], text[:whole])
		j.rest = append([]byte(nil), text[whole:]...)
		text = j.text
	}
	if _, err := j.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// partial returns how many bytes at the end of text begin a character without ending
// it.
func partial(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
