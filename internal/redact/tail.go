package redact

import (
	"io"
	"strings"
	"unicode/utf8"
)

// margin is the number of bytes that Tail reads before the cut: the maximum length of a secret
// across the cut. A private key has up to 13 KiB.
const margin = 64 << 10

const replacement = "\uFFFD"

// cutWord is the kind of a word that begins before the margin, so its real kind is unknown.
const cutWord = "cut"

// Tail returns the last limit bytes, at most, of a text of size bytes, as UTF-8 without
// secrets. It redacts before it cuts, since a part of a secret does not look like one. It
// needs memory of a few times limit and 64 KiB.
//
// # Errors
//
// Errors from r. It is not an error if the text has become shorter than size.
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
	text = strings.ToValidUTF8(behind(text, cut), replacement)
	// Only the first character can be cut.
	return strings.ToValidUTF8(text[max(0, len(text)-limit):], ""), nil
}
