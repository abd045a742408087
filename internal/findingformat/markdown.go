package findingformat

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxComment is the maximum length of a comment on GitHub. GitHub counts characters, and
// this package counts bytes, which are never fewer.
const maxComment = 65536

// The limits of a cell in code points, because critics choose the texts.
const (
	maxPlace = 200
	maxText  = 1000
)

// markdown writes a table for a comment on a pull request. If the table is too long, it
// ends with the number of omitted findings.
func markdown(w io.Writer, r Review) error {
	var b strings.Builder
	b.WriteString(r.title() + "\n")
	if len(r.Findings) > 0 {
		b.WriteString("\n| severity | category | where | to do |\n|---|---|---|---|\n")
	}
	for i, f := range r.Findings {
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", textutil.MarkdownCode(string(f.Severity), maxPlace), textutil.MarkdownCode(f.Category, maxPlace), textutil.MarkdownCode(f.Location(), maxPlace), textutil.MarkdownCode(message(f), maxText))
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
		return "**not reviewed**: " + textutil.MarkdownCode(r.TaskID, maxPlace)
	}
	kind := "open"
	if r.Deferred {
		kind = "deferred"
	}
	title := fmt.Sprintf("**%s** %s", textutil.Count(len(r.Findings), "finding"), kind)
	if r.TaskID != "" {
		title += ", " + textutil.MarkdownCode(r.TaskID, maxPlace)
	}
	if r.Round > 0 { // Otherwise a person has named the findings.
		title += fmt.Sprintf(", review of round %d", r.Round)
	}
	if r.Bar != "" {
		title += ", bar " + textutil.MarkdownCode(r.Bar, maxPlace)
	}
	return title
}
