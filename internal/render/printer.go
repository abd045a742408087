// Package render writes the results of commands: as text for a person, laid out for a
// terminal, and as JSON for scripts.
//
// It works on data and a writer, and does not depend on flags or on the engine.
package render

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Printer lays out text for a person. It escapes hidden characters in all of it.
type Printer struct {
	w io.Writer
	// color and width describe the terminal. Other outputs have no colour and no maximum
	// width.
	color bool
	width int
}

// New returns a Printer that writes to w, laid out for device.
func New(w io.Writer, device io.Writer) *Printer {
	p := &Printer{w: w}
	if f, ok := device.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && ShowsColor(f)
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.width = width
		}
	}
	return p
}

// The colours of a terminal (ECMA-48 select graphic rendition).
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "1;36"
)

// styledText is text that is ready for the terminal: cleaned, and coloured if colour is
// on.
type styledText string

// paint cleans s, and colours it if colour is on.
func (p *Printer) paint(color, s string) styledText { return p.colored(color, textutil.Line(s)) }

// colored is paint for text that is already clean.
func (p *Printer) colored(color, s string) styledText {
	if !p.color || color == plain {
		return styledText(s)
	}
	return styledText("\x1b[" + color + "m" + s + "\x1b[0m")
}

// mark returns one of two words, green if ok is true and red otherwise.
func (p *Printer) mark(ok bool, good, bad string) styledText {
	if ok {
		return p.paint(green, good)
	}
	return p.paint(red, bad)
}

// Line writes one line. It cleans its arguments except numbers and styledText.
func (p *Printer) Line(format string, args ...any) {
	for i, arg := range args {
		switch arg.(type) {
		case styledText, int, int64:
		default:
			args[i] = textutil.Line(fmt.Sprint(arg))
		}
	}
	fmt.Fprintln(p.w, inert(fmt.Sprintf(format, args...)))
}

// inert escapes the beginning of a command in a line. GitHub's runner takes ::NAME:: at the
// beginning of a log's line for a command, and ##[NAME] anywhere; Azure Pipelines ##vso[NAME].
func inert(line string) string {
	if text := strings.TrimLeft(line, " "); strings.HasPrefix(text, "::") {
		line = line[:len(line)-len(text)] + "<U+003A>" + text[1:]
	}
	return logCommands.Replace(line)
}

var logCommands = strings.NewReplacer("##[", "#<U+0023>[", "##vso[", "#<U+0023>vso[")

// lineIf is Line, if ok is true.
func (p *Printer) lineIf(ok bool, format string, args ...any) {
	if ok {
		p.Line(format, args...)
	}
}

// Numbers of lines that are shown of a block's beginning and end.
const (
	blockHead = 10
	blockTail = 20
)

// block writes a text of several lines, each after a margin, and omits the middle of a
// long one.
func (p *Printer) block(text string) {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		if n := len(lines) - blockHead - blockTail; n > 0 && i >= blockHead && i < blockHead+n {
			p.lineIf(i == blockHead, "  | … %s", textutil.Count(n, "line"))
			continue
		}
		p.Line("  | %s", strings.TrimRight(line, "\r"))
	}
}

func (p *Printer) title(text string) {
	p.Line("")
	p.Line("%s", p.paint(bold, text))
}

// cell is one field of a table.
type cell struct{ text, color string }

func dimmed(text string) cell { return cell{text, dim} }

func action(name string) cell { return cell{name, actionColor(name)} }

// table has a header as its first row, and for each row the text below it, or "".
type table struct {
	rows  [][]cell
	texts []string
}

func newTable(header ...string) *table {
	t := &table{}
	t.add()
	for _, h := range header {
		t.rows[0] = append(t.rows[0], dimmed(h))
	}
	return t
}

// add adds a row. A field that is not a cell has no colour.
func (t *table) add(fields ...any) { t.addWithText("", fields...) }

func (t *table) addWithText(text string, fields ...any) {
	row := make([]cell, len(fields))
	for i, field := range fields {
		if c, ok := field.(cell); ok {
			row[i] = c
		} else {
			row[i].text = fmt.Sprint(field)
		}
	}
	t.rows, t.texts = append(t.rows, row), append(t.texts, text)
}

// maxColumn limits the width of a column. A longer text is printed whole and out of
// line: one long word must not pad every row to its length.
const maxColumn = 80

// minLast is the minimum width of the last column of a table.
const minLast = 20

// below is the indentation of the text below a row.
const below = "    "

// list is table after a blank line.
func (p *Printer) list(t *table) {
	p.lineIf(len(t.rows) > 1, "")
	p.table(t)
}

// table writes a table, unless it has no rows. The last column is wrapped at the width
// of the terminal.
func (p *Printer) table(t *table) {
	if len(t.rows) == 1 {
		return
	}
	widths := columnWidths(t.rows, maxColumn)
	last := len(widths) - 1
	left := rowWidth(widths[:last]) + 2
	write := func(row []cell) { p.row(row, widths, left) }
	if p.width > 0 && p.width-left < min(minLast, widths[last]) {
		write = p.ragged
	}
	for i, row := range t.rows {
		write(row)
		if t.texts[i] != "" {
			p.indentedText(textutil.Line(t.texts[i]))
		}
	}
}

// tableWithPlaces writes a table with places in the column where. If the rows are wider than
// the terminal, the place moves below its row, before the text.
func (p *Printer) tableWithPlaces(t *table, where int) {
	if p.width > 0 && rowWidth(columnWidths(t.rows[1:], math.MaxInt)) > p.width {
		for i, row := range t.rows {
			if place := row[where].text; i > 0 && place != noPlace {
				t.texts[i] = strings.TrimSuffix(fitMiddle(place, p.width-len(below)-len(":"))+": "+t.texts[i], ": ")
			}
			t.rows[i] = slices.Delete(row, where, where+1)
		}
	}
	p.table(t)
}

// noPlace is the place of a finding without a location.
const noPlace = "-"

// columnWidths returns the widths of the columns of a table, each at most most. It
// cleans the rows.
func columnWidths(rows [][]cell, most int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i].text = textutil.Line(row[i].text)
			widths[i] = max(widths[i], min(most, columns(row[i].text)))
		}
	}
	return widths
}

func rowWidth(widths []int) int {
	all := 2 * (len(widths) - 1)
	for _, w := range widths {
		all += w
	}
	return all
}

// row writes a row of a table. Its last column begins at column left, or below the row if a word
// of it, such as an id that the reader copies, would be split there.
func (p *Printer) row(row []cell, widths []int, left int) {
	last := len(row) - 1
	var b strings.Builder
	for i, c := range row[:last] {
		b.WriteString(string(p.colored(c.color, c.text)))
		b.WriteString(strings.Repeat(" ", max(2, widths[i]+2-columns(c.text))))
	}
	if text := row[last].text; p.width > 0 && splits(text, p.width-left) && !splits(text, p.width-len(below)) {
		p.Line("%s", styledText(strings.TrimRight(b.String(), " ")))
		b.Reset()
		b.WriteString(below)
		left = len(below)
	}
	for i, piece := range wrap(row[last].text, max(0, p.width-left)) {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", left))
		}
		b.WriteString(string(p.colored(row[last].color, piece)))
		p.Line("%s", styledText(strings.TrimRight(b.String(), " ")))
		b.Reset()
	}
}

// ragged writes a row of a table that is too wide for its columns: one cell after the
// other, in several lines if needed.
func (p *Printer) ragged(row []cell) {
	limit := max(p.width-len(below), minLast)
	var b strings.Builder
	used := 0
	for _, c := range row {
		for _, piece := range wrap(c.text, limit) {
			n := columns(piece)
			switch {
			case used == 0:
			case used+2+n > p.width:
				p.Line("%s", styledText(b.String()))
				b.Reset()
				b.WriteString(below)
				used = len(below)
			default:
				b.WriteString("  ")
				used += 2
			}
			b.WriteString(string(p.colored(c.color, piece)))
			used += n
		}
	}
	p.Line("%s", styledText(strings.TrimRight(b.String(), " ")))
}

// indentedText writes a clean text below a row.
func (p *Printer) indentedText(text string) {
	limit := 0
	if p.width > 0 {
		limit = max(p.width-len(below), minLast)
	}
	for _, piece := range wrap(text, limit) {
		p.Line("%s%s", below, styledText(piece))
	}
}

// part is a number of things.
type part struct {
	n    int
	word string
}

// nonZeroParts returns the parts that are not 0, each with its number.
func nonZeroParts(parts ...part) []string {
	var words []string
	for _, p := range parts {
		if p.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return words
}

// eventTime shortens the time of an event to seconds.
func eventTime(at string) string {
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		return t.Format(time.RFC3339)
	}
	return at
}

// Size formats a number of bytes.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return textutil.Count(n, "byte")
	case n < 1<<20:
		return tenths(n, 1<<10) + " KiB"
	default:
		return tenths(n, 1<<20) + " MiB"
	}
}

// tenths formats n/unit with one decimal, unless that is 0.
func tenths(n, unit int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit)), ".0")
}
