package release

import (
	"bytes"
	"strings"
)

// The lines between which a record's body shows what changes.
const (
	diffBegins = "<!-- switchyard:diff -->"
	diffEnds   = "<!-- /switchyard:diff -->"
)

// fill puts a block between a text's markers, in place of what is there. A text
// without both markers, each in a line of its own and the first one first, stays as it
// is: whoever removed them wants none.
func fill(text []byte, block string) []byte {
	begin, end, at := -1, -1, 0
	lineEnd := "\n"
	for line := range bytes.Lines(text) {
		switch strings.TrimSpace(string(line)) {
		case diffBegins:
			if begin < 0 {
				begin = at + len(line)
				if bytes.HasSuffix(line, []byte("\r\n")) {
					lineEnd = "\r\n"
				}
			}
		case diffEnds:
			if begin >= 0 && end < 0 {
				end = at
			}
		}
		at += len(line)
	}
	if end < 0 {
		return text
	}
	block = strings.ReplaceAll("\n"+strings.TrimSpace(block)+"\n\n", "\n", lineEnd)
	return append(append(bytes.Clone(text[:begin]), block...), text[end:]...)
}
