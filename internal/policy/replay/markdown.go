package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShown bounds the changed decisions that Markdown lists.
const maxShown = 20

// Markdown formats the report for a decision record: the summary, the matrix and the
// first changed decisions with their causes.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", r.Summary())
	if len(r.Matrix) > 0 {
		b.WriteString("\n")
		r.writeMatrix(&b)
	}
	if len(r.Flips) == 0 {
		return b.String()
	}
	b.WriteString("\n| Task | Round | From | To | Why |\n|---|---|---|---|---|\n")
	for _, f := range r.Flips[:min(len(r.Flips), maxShown)] {
		var why []string
		for _, c := range f.Causes {
			why = append(why, c.String())
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", cell(f.Task), f.Round,
			f.From.NextAction+" ("+f.From.Reason+")", f.To.NextAction+" ("+f.To.Reason+")", cell(strings.Join(why, "; ")))
	}
	if more := r.Flipped() - maxShown; more > 0 {
		fmt.Fprintf(&b, "\nAnd %s.\n", textutil.Count(more, "flip")+" more")
	}
	return b.String()
}

// writeMatrix writes a row for each recorded destination and a column for each new one.
func (r Report) writeMatrix(b *strings.Builder) {
	var rows, columns []string
	at := make(map[pair]int64, len(r.Matrix))
	for _, c := range r.Matrix {
		rows, columns = append(rows, c.From), append(columns, c.To)
		at[pair{c.From, c.To}] = c.Count
	}
	slices.Sort(columns)
	rows, columns = slices.Compact(rows), slices.Compact(columns)
	fmt.Fprintf(b, "| From \\ To | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, from := range rows {
		fmt.Fprintf(b, "| %s |", from)
		for _, to := range columns {
			switch n := at[pair{from, to}]; {
			case n == 0:
				b.WriteString(" |")
			case from != to:
				fmt.Fprintf(b, " **%d** |", n)
			default:
				fmt.Fprintf(b, " %d |", n)
			}
		}
		b.WriteString("\n")
	}
}

// cell escapes a text so that it cannot end its table cell or act as markup.
func cell(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < ' ' || c == 0x7f:
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_{}[]<>|&#", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
