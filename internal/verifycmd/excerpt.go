package verifycmd

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/redact"
)

// The parts of an excerpt, in bytes. The end is the longer one: it is where most
// tools say what failed.
const (
	excerptMax  = 2000
	excerptHead = 800
	excerptTail = excerptMax - excerptHead
)

// margin is how much around a cut is searched for a secret that stands across it,
// in bytes.
const margin = 64 << 10

// Excerpt returns a text of size bytes as it is if it has at most 2,000 of them,
// else its first 800 and its last 1,200, cut a little shorter where that would
// split a character. A line between them says how many are left out, of how many.
// Control characters are kept: what shows the excerpt has to clean it. What is not
// UTF-8 is replaced by U+FFFD, and what looks like a secret is taken out, before
// anything is cut, so the excerpt may have more bytes than it shows, or fewer.
//
// An error is that of r, io.ErrUnexpectedEOF where r has fewer bytes.
func Excerpt(r io.ReaderAt, size int64) (string, error) {
	if size <= excerptMax {
		all, err := readAt(r, 0, max(size, 0))
		return redact.Text(valid(all)), err
	}
	head, err := readAt(r, 0, excerptHead)
	if err != nil {
		return "", err
	}
	// The character that the tail may begin in began before it.
	tail, err := readAt(r, size-excerptTail-(utf8.UTFMax-1), excerptTail+utf8.UTFMax-1)
	if err != nil {
		return "", err
	}
	head, tail = head[:headEnd(head)], tail[tailStart(tail, utf8.UTFMax-1):]
	left := size - int64(len(head)) - int64(len(tail))
	newline := "\n"
	if head[len(head)-1] == '\n' {
		newline = ""
	}
	first, err := cleanHead(r, size, valid(head))
	if err != nil {
		return "", err
	}
	last, err := cleanTail(r, size, valid(tail))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s[truncated: %d of %d bytes are left out here]\n%s", first, newline, left, size, last), nil
}

// cleanHead is the head without the secrets that it has or has the beginning of.
func cleanHead(r io.ReaderAt, size int64, head string) (string, error) {
	around, err := readAt(r, 0, min(size, excerptHead+margin))
	if err != nil {
		return "", err
	}
	text := valid(around)
	clean := redact.Text(text)
	if clean == text {
		return head, nil
	}
	clean = clean[:min(excerptHead, len(clean))]
	return clean[:headEnd([]byte(clean))], nil
}

// cleanTail is the tail without the secrets that it has or has the end of.
func cleanTail(r io.ReaderAt, size int64, tail string) (string, error) {
	from := max(0, size-excerptTail-margin)
	around, err := readAt(r, from, size-from)
	if err != nil {
		return "", err
	}
	if text := valid(around); redact.Text(text) == text {
		return tail, nil
	}
	return redact.Tail(r, size, excerptTail)
}

func readAt(r io.ReaderAt, off, n int64) ([]byte, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, off, n), data); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // Not even the first byte is there.
		}
		return nil, err
	}
	return data, nil
}

// headEnd is where b ends without the beginning of a character whose end is cut off.
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

// tailStart is at, or where the character ends that is cut in two there.
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

// valid replaces each run of bytes that are not UTF-8 by one U+FFFD.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
