package adapter

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDocument is how many bytes of an output in JSON are held at once: a line, or a
// JSON object over several lines. What is longer is passed over. It leaves room for a
// large report in a CLI's last event, and bounds what a babbler costs.
const MaxDocument = 8 << 20

// MaxText is how many bytes an output that is text may have. It is a final message as
// a whole, and not one among many events.
const MaxText = 1 << 20

// quoted is how many bytes of a line a note quotes.
const quoted = 160

// documents finds the JSON objects in what a CLI prints. An object is a line that
// holds nothing else, or the lines from one that is "{" to one that is "}", as
// indented JSON is printed. A byte order mark, colours and CR LF around it are no
// part of it; other lines, such as a banner or a log, are passed over.
//
// The end of a line is what decides, never the end of a piece, so the pieces in
// which the output comes make no difference.
type documents struct {
	emit func(event)
	// line is what has come of the current line, block what has come of an object
	// over several lines, nil outside of one.
	line, block []byte
	// long says that the current line, or the object that it is part of, has more
	// than MaxDocument bytes; its rest is dropped.
	long bool

	begun bool // the first line is over
	// skipped counts lines and objects that were too long, broken those that are no
	// object, and example is the first of these.
	skipped, broken int
	example         string
}

func (d *documents) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			d.collect(p)
			return
		}
		d.collect(p[:end])
		d.endLine()
		p = p[end+1:]
	}
}

// finish takes the last line, which may lack its end.
func (d *documents) finish() {
	d.endLine()
	if d.block != nil {
		d.breakBlock()
	}
}

func (d *documents) collect(p []byte) {
	if d.long {
		return
	}
	if len(d.block)+len(d.line)+len(p) > MaxDocument {
		d.long = true
		d.line = nil
		return
	}
	d.line = append(d.line, p...)
}

func (d *documents) endLine() {
	line := d.line
	d.line = d.line[:0]
	if !d.begun {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		d.begun = true
	}
	switch {
	case d.long:
		d.long = false
		d.skipped++
		d.block = nil
	case d.block != nil:
		d.inBlock(line)
	default:
		d.outside(bare(line))
	}
}

// inBlock goes on with an object over several lines. All but its last line are
// indented, so another one says that it was none.
func (d *documents) inBlock(line []byte) {
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		d.block = append(append(d.block, line...), '\n')
		return
	}
	if rest := bare(line); string(rest) != "}" {
		d.breakBlock()
		d.outside(rest)
		return
	}
	whole := append(d.block, '}')
	d.block = nil
	d.document(whole)
}

func (d *documents) outside(line []byte) {
	switch {
	case len(line) == 0:
	case string(line) == "{":
		d.block = append([]byte(nil), line...)
	default:
		d.document(line)
	}
}

func (d *documents) document(b []byte) {
	v := jsontext.Value(b)
	if v.Kind() != '{' || !v.IsValid(jsontext.AllowInvalidUTF8(true)) {
		d.note(b)
		return
	}
	d.emit(eventOf(v))
}

func (d *documents) breakBlock() {
	d.note(d.block)
	d.block = nil
}

func (d *documents) note(b []byte) {
	if d.broken++; d.broken == 1 {
		d.example = excerpt(string(b), quoted)
	}
}

// notes says what was passed over.
func (d *documents) notes() []string {
	var notes []string
	if d.broken > 0 {
		notes = append(notes, fmt.Sprintf("passed over in the output, for it is no JSON object: %q, and %d more", d.example, d.broken-1))
	}
	if d.skipped > 0 {
		notes = append(notes, fmt.Sprintf("passed over in the output: %d lines or objects of more than %d bytes", d.skipped, MaxDocument))
	}
	return notes
}

// The sequences that colour a terminal, at the start and at the end of a text.
var (
	leading  = pattern(`^(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])+`)
	trailing = pattern(`(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])+$`)
)

// colours is how many bytes at the end of a line are searched for colours. Searching
// a line of megabytes for its end would take longer than reading it.
const colours = 64

// bare is a line without spaces and colours around it.
func bare(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	line = line[len(leading().Find(line)):]
	tail := line[max(0, len(line)-colours):]
	return line[:len(line)-len(trailing().Find(tail))]
}

// excerpt is the start of a text, at most limit bytes, cut between characters.
func excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
