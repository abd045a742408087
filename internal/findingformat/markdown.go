package findingformat

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxComment is the length of a comment that GitHub accepts. It counts characters, and
// this package bytes, which are never fewer.
const maxComment = 65536

// Code points of a cell. Critics choose the texts.
const (
	maxPlace = 200
	maxText  = 1000
)

// markdown writes a table for a comment on a pull request. If the table is too long, it
// says how many findings are left out.
func markdown(w io.Writer, r Review) error {
	var b strings.Builder
	b.WriteString(r.title() + "\n")
	if len(r.Findings) > 0 {
		b.WriteString("\n| severity | category | where | to do |\n|---|---|---|---|\n")
	}
	for i, f := range r.Findings {
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", code(string(f.Severity), maxPlace), code(f.Category, maxPlace), code(f.Location(), maxPlace), code(message(f), maxText))
		rest := fmt.Sprintf("\n%s more: the comment would be too long.\n", textutil.Count(len(r.Findings)-i, "finding"))
		if b.Len()+len(row)+len(rest) > maxComment {
			b.WriteString(rest)
			break
		}
		b.WriteString(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Review) title() string {
	if r.isMissing() {
		return "**not reviewed**: " + code(r.TaskID, maxPlace)
	}
	kind := "open"
	if r.Deferred {
		kind = "deferred"
	}
	title := fmt.Sprintf("**%s** %s", textutil.Count(len(r.Findings), "finding"), kind)
	if r.TaskID != "" {
		title += ", " + code(r.TaskID, maxPlace)
	}
	title += fmt.Sprintf(", review of round %d", r.Round)
	if r.Bar != "" {
		title += ", bar " + code(r.Bar, maxPlace)
	}
	return title
}

// code returns a text as code, in which Markdown, HTML, links and mentions mean nothing. A
// vertical bar would end the table's cell, also in code, so it is written between two
// pieces of code.
func code(s string, limit int) string {
	pieces := strings.Split(textutil.Clip(textutil.Line(s), limit), "|")
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
