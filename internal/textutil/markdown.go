package textutil

import "strings"

// MarkdownCode returns at most limit code points of a text as Markdown code, in which markup,
// links and mentions have no effect. A vertical bar would end a table's cell even in code, so
// it is written between two pieces of code.
func MarkdownCode(s string, limit int) string {
	pieces := strings.Split(Clip(Line(s), limit), "|")
	for i, piece := range pieces {
		if piece == "" {
			continue
		}
		fence := "`"
		for strings.Contains(piece, fence) {
			fence += "`"
		}
		if strings.Contains(piece, "`") {
			piece = " " + piece + " "
		}
		pieces[i] = fence + piece + fence
	}
	return strings.Join(pieces, "&#124;")
}
