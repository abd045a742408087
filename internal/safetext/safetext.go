// Package safetext decides which characters of a text from outside are shown as they
// are. It is used for every output: the terminal, JSON, and files that people or
// agents read. A character that cannot be seen could move the cursor of a terminal,
// turn the reading order around, or carry orders to an agent that its user does not
// see.
package safetext

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

// brailleBlank is a symbol for Unicode, but no ink.
const brailleBlank = '\u2800'

// Hidden reports whether a character is written as an escape: control and format
// characters, every white space except the space, unassigned code points, and those
// that count as printable but leave no mark, such as variation selectors and fillers.
//
// It looks at one character alone. The joiners and selectors inside of an emoji
// sequence are therefore written out, too: any text can be hidden in them.
func Hidden(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false
	}
	return !strconv.IsPrint(r) || r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Line returns s as one line without hidden characters. White space becomes a space,
// what is not UTF-8 becomes U+FFFD, and any other hidden character its code point in
// angle brackets, such as <U+202E>.
func Line(s string) string { return shown(s, "") }

// Lines is Line for a text of several lines: it keeps line ends and tabs.
func Lines(s string) string { return shown(s, "\n\t") }

func shown(s, kept string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case !Hidden(r), strings.ContainsRune(kept, r):
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

// AppendJSON appends a character as the contents of a JSON string, as \u escapes.
func AppendJSON(dst []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
}

// JSON returns valid JSON in which hidden characters are written as \u escapes. The
// decoded value is unchanged, and so is text that has none.
func JSON(text []byte) []byte {
	if !slices.ContainsFunc(text, beyondASCII) {
		return text
	}
	return appendSafe(nil, text)
}

// beyondASCII reports whether a byte of JSON may be part of a hidden character. White
// space between the tokens is not, and strings have no control characters below DEL.
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

// jsonWriter is JSON for a stream.
type jsonWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character that the last write cut
	text []byte
}

// JSONWriter returns a writer that passes JSON on to w as JSON returns it.
func JSONWriter(w io.Writer) io.Writer { return &jsonWriter{w: w} }

// Write implements io.Writer for pieces of valid JSON.
func (j *jsonWriter) Write(p []byte) (int, error) {
	text := p
	if len(j.rest) > 0 || slices.ContainsFunc(p, beyondASCII) {
		text = append(j.rest, p...)
		whole := len(text) - cut(text)
		j.text = appendSafe(j.text[:0], text[:whole])
		j.rest = append([]byte(nil), text[whole:]...)
		text = j.text
	}
	if _, err := j.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cut returns how many bytes at the end of text are the beginning of a character.
func cut(text []byte) int {
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
