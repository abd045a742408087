package adapter

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// MaxDocument bounds a line or a multi-line JSON object of the output, in bytes. Longer ones
// are skipped. The limit leaves room for a large report in a CLI's last event, but several
// agents that print long lines at once do not need much memory.
const MaxDocument = 2 << 20

// MaxText bounds an output that is text, in bytes. Only the end of a longer one is read, and
// it does not count as a final message.
const MaxText = 1 << 20

// quoted is the number of bytes of a line that a note quotes.
const quoted = 160

// documents finds the JSON objects in an output. An object is a whole line, or the lines
// from "{" to "}" as indented JSON is printed. A byte order mark, colours and CR LF are
// ignored; other lines, such as banners and logs, are skipped. The result does not depend
// on how the output is split into writes.
type documents struct {
	emit func(event)
	// other is called with each part of the output that is not an object, or with nil if
	// the part is too long. It may be nil.
	other func([]byte)
	// raw is the object that is being emitted.
	raw []byte
	// line is the current line, and block the current object over several lines, or nil.
	line, block []byte
	// long is set if the current line or block is too long. The rest of it is dropped.
	long bool

	begun bool // after the first line
	// skipped counts lines and objects that were too long, and broken the ones that are not
	// objects. example is the first of these.
	skipped, broken int
	example         string
}

// Write takes any bytes, and never fails.
func (d *documents) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		text, ends := bytes.CutSuffix(line, []byte("\n"))
		d.collect(text)
		if ends {
			d.endLine()
		}
	}
	return len(p), nil
}

// finish ends the last line.
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
		d.passOther(nil)
	case d.block != nil:
		d.inBlock(line)
	default:
		d.outside(bare(line))
	}
}

// inBlock continues a multi-line object. All lines but the last are indented; another line
// means that it was not an object.
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
	d.raw = b
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
	d.passOther(b)
}

func (d *documents) passOther(b []byte) {
	if d.other != nil {
		d.other(b)
	}
}

func (d *documents) notes() []string {
	var notes []string
	if d.broken > 0 {
		note := fmt.Sprintf("passed over in the output, because it is not a JSON object: %q", d.example)
		if d.broken > 1 {
			note += fmt.Sprintf(", and %d more", d.broken-1)
		}
		notes = append(notes, note)
	}
	if d.skipped > 0 {
		notes = append(notes, fmt.Sprintf("passed over in the output: %d of its lines or objects, which have more than %d MiB", d.skipped, MaxDocument>>20))
	}
	return notes
}

// Terminal colours and white space at the start and the end of a text.
var (
	leading  = lazy.Regexp(`^(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])+`)
	trailing = lazy.Regexp(`(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])+$`)
)

// colours is the number of bytes at the end of a line that are searched for colours. Searching
// a long line from its start would be slow.
const colours = 64

// bare removes white space and colours around a line.
func bare(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	line = line[len(leading().Find(line)):]
	tail := line[max(0, len(line)-colours):]
	return line[:len(line)-len(trailing().Find(tail))]
}

// excerpt returns the start of a text, at most limit bytes, cut between characters. It redacts
// before it cuts, since a part of a secret may not be recognized.
func excerpt(text string, limit int) string {
	if text = redact.Text(text); len(text) <= limit {
		return text
	}
	return textutil.ClipBytes(text, limit) + "…"
}
