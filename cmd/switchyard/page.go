package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// page lays text out for a person. Everything that goes through it is cleaned.
type page struct {
	w io.Writer
	// color and width are those of a terminal; elsewhere there is no colour and
	// no limit to a line.
	color bool
	width int
}

// newPage returns a page that writes to w, laid out for the device behind it.
func newPage(w io.Writer, device io.Writer) *page {
	p := &page{w: w}
	if f, ok := device.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && showsColor(f)
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

// painted is text that is ready for the terminal: cleaned, and in a colour where
// there is one.
type painted string

// paint cleans s and colours it, where there is colour.
func (p *page) paint(color, s string) painted { return p.colored(color, clean(s)) }

// colored is paint for what is clean already.
func (p *page) colored(color, s string) painted {
	if !p.color || color == plain {
		return painted(s)
	}
	return painted("\x1b[" + color + "m" + s + "\x1b[0m")
}

// Errors of writing surface when the buffer behind the page is flushed.

// line writes one line and cleans its arguments, unless they are painted.
func (p *page) line(format string, args ...any) {
	for i, arg := range args {
		switch arg.(type) {
		case painted, int, int64:
		default:
			args[i] = clean(fmt.Sprint(arg))
		}
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

// The lines of a block that are shown: its beginning and its end.
const (
	blockHead = 10
	blockTail = 20
)

// block writes a text of several lines, each behind a margin, without the middle
// of a long one.
func (p *page) block(text string) {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		if n := len(lines) - blockHead - blockTail; n > 0 && i >= blockHead && i < blockHead+n {
			if i == blockHead {
				p.line("  | … %s", plural(n, "line"))
			}
			continue
		}
		p.line("  | %s", strings.TrimRight(line, "\r"))
	}
}

// cell is one field of a table.
type cell struct{ text, color string }

// maxColumn is how wide a column is made, in code points. What is longer stands
// whole and out of line: one long word must not pad every row to its length.
const maxColumn = 80

// table writes rows under a header, in columns. The last column is cut to the
// width of the terminal.
func (p *page) table(header []string, rows [][]cell) {
	widths := make([]int, len(header))
	for i, h := range header {
		widths[i] = len(h)
	}
	for _, row := range rows {
		for i := range row {
			row[i].text = clean(row[i].text)
			widths[i] = max(widths[i], min(maxColumn, utf8.RuneCountInString(row[i].text)))
		}
	}
	last := len(header) - 1
	rest := 0
	if p.width > 0 {
		rest = p.width
		for _, w := range widths[:last] {
			rest -= w + 2
		}
		rest = max(rest, 20)
	}
	write := func(row []cell) {
		var b strings.Builder
		for i, c := range row {
			if i == last {
				b.WriteString(string(p.colored(c.color, short(c.text, rest))))
				break
			}
			b.WriteString(string(p.colored(c.color, c.text)))
			b.WriteString(strings.Repeat(" ", max(2, widths[i]+2-utf8.RuneCountInString(c.text))))
		}
		p.line("%s", painted(strings.TrimRight(b.String(), " ")))
	}
	head := make([]cell, len(header))
	for i, h := range header {
		head[i] = cell{h, dim}
	}
	write(head)
	for _, row := range rows {
		write(row)
	}
}
