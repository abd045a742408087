package release

import (
	"bytes"
	"strings"
)

// The markers around the changes in a record's body.
const (
	diffBegins = "<!-- switchyard:diff -->"
	diffEnds   = "<!-- /switchyard:diff -->"
)

// fill replaces the text between the markers with a block. It returns a text unchanged if
// it does not have both markers, each in its own line and in order: the author removed
// them on purpose.
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
