package redact

import (
	"io"
	"strings"
	"unicode/utf8"
)

// margin is how much of what stands before it Tail looks at, in bytes: as much as a
// secret across the cut, with the words that tell it, may have. A private key has up
// to 13 KiB.
const margin = 64 << 10

// replacement stands for what is no UTF-8.
const replacement = "\uFFFD"

// cutWord is the kind of a word whose begin is further away than the margin, so that
// nobody knows what it was.
const cutWord = "cut"

// Tail returns the last limit bytes of a text of size bytes, as UTF-8 without
// secrets. Secrets are taken out before it is cut: what is left of one that stood
// across the cut would not look like one. The result has limit bytes at most, and
// memory is needed for limit and 64 KiB a few times.
//
// # Errors
//
// Those of r. That the text is shorter than size by now is none.
func Tail(r io.ReaderAt, size int64, limit int) (string, error) {
	if size <= 0 || limit <= 0 {
		return "", nil
	}
	from := max(0, size-int64(limit)-margin)
	data, err := io.ReadAll(io.NewSectionReader(r, from, size-from))
	if err != nil {
		return "", err
	}
	text, cut := string(data), max(0, len(data)-limit)
	if from > 0 {
		if end := run(text, 0, isToken); end > cut {
			text, cut = mark(cutWord)+text[end:], 0
		}
	}
	for cut > 0 && cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	return last(strings.ToValidUTF8(behind(text, cut), replacement), limit), nil
}

// last returns the end of s, of at most limit bytes and whole characters.
func last(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[len(s)-limit:]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}
