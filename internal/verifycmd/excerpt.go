package verifycmd

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The sizes of an excerpt's parts, in bytes. The end is longer, since most tools report
// failures there.
const (
	excerptMax  = 2000
	excerptHead = 800
	excerptTail = excerptMax - excerptHead
)

// margin is the number of bytes around a cut that are searched for a secret that crosses it.
const margin = 64 << 10

// Excerpt returns a text of size bytes: the whole text if it has at most 2,000 bytes,
// otherwise its first 800 and its last 1,200 bytes, slightly less if a cut would split a
// character. A line between them has the number of omitted bytes and of all bytes. Control
// characters stay: the caller must remove them for display. Invalid UTF-8 is replaced by
// U+FFFD, and text that looks like a secret is redacted before the cut, so the excerpt may
// be longer or shorter than these bytes.
//
// Errors are errors of r, and io.ErrUnexpectedEOF if r has fewer bytes.
func Excerpt(r io.ReaderAt, size int64) (string, error) {
	if size <= excerptMax {
		all, err := readAt(r, 0, max(size, 0))
		return redact.Text(toValidUTF8(all)), err
	}
	head, err := readAt(r, 0, min(size, excerptHead+margin))
	if err != nil {
		return "", err
	}
	from := max(0, size-excerptTail-margin)
	tail, err := readAt(r, from, size-from)
	if err != nil {
		return "", err
	}
	end, start := headEnd(head[:excerptHead]), tailStart(tail, len(tail)-excerptTail)
	left := size - int64(end) - int64(len(tail)-start)
	first, last := toValidUTF8(head[:end]), toValidUTF8(tail[start:])
	// A cut may split a secret, so what is around the cuts is searched too.
	if text := toValidUTF8(head); redact.Text(text) != text {
		first = textutil.ClipBytes(redact.Text(text), excerptHead)
	}
	if text := toValidUTF8(tail); redact.Text(text) != text {
		if last, err = redact.Tail(r, size, excerptTail); err != nil {
			return "", err
		}
	}
	newline := "\n"
	if strings.HasSuffix(first, newline) {
		newline = ""
	}
	return fmt.Sprintf("%s%s[truncated: %d of %d bytes are left out here]\n%s", first, newline, left, size, last), nil
}

func readAt(r io.ReaderAt, off, n int64) ([]byte, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, off, n), data); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // Not even the first byte exists.
		}
		return nil, err
	}
	return data, nil
}

// headEnd returns the length of b without an incomplete character at its end.
func headEnd(b []byte) int {
	for i := len(b) - 1; i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// tailStart returns at, or the end of the character that would be split there.
func tailStart(b []byte, at int) int {
	for i := at - 1; i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if _, n := utf8.DecodeRune(b[i:]); i+n > at {
				return i + n
			}
			break
		}
	}
	return at
}

// toValidUTF8 replaces each run of invalid UTF-8 by one U+FFFD.
func toValidUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
