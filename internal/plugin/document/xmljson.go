package document

import (
	"bytes"
	"encoding/xml"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// xmlWriter writes elements as JSON while they are read. It builds no tree: children
// are appended to one text, and those of one name that are not adjacent are moved
// together when their parent ends.
type xmlWriter struct {
	out   []byte
	limit int64

	names    []name
	ids      map[xml.Name]int // Indexes into names.
	open     []int            // The first run of each open element.
	runs     []run            // Of all open elements, the outermost's first.
	texts    [][]byte         // The own text of each open element; longer than open, for reuse.
	comments [][]byte         // Its comments, each with a NUL behind it, which XML does not allow; as long as texts.

	scratch []byte
	next    []int // Per run, the next of the same name, or 0.
}

// name is the name of an element.
type name struct {
	key  []byte // As JSON.
	last int    // In group: the last run of this name, from 1, or 0.
}

// run is a sequence of adjacent children of one name.
type run struct {
	name  int
	key   int // The offset of the member's key in out,
	start int // the start of the text between the array's brackets,
	end   int // and its end.
}

// newXMLWriter returns a writer for a report of size bytes. JSON is about as long as
// XML.
func newXMLWriter(size int, limit int64) *xmlWriter {
	w := &xmlWriter{limit: limit, ids: make(map[xml.Name]int)}
	w.out = append(make([]byte, 0, size+64), '{')
	return w
}

// full reports whether the document exceeds the limit.
func (w *xmlWriter) full() bool { return int64(len(w.out))+1 > w.limit }

// bytes returns the document. It ends the writing.
func (w *xmlWriter) bytes() []byte { return append(w.out, '}') }

func (w *xmlWriter) start(t xml.StartElement) {
	id := w.id(t.Name)
	if len(w.open) == 0 {
		w.out = append(append(w.out, w.names[id].key...), ':')
	} else {
		w.child(id)
	}
	w.out = append(w.out, '{')
	for _, a := range t.Attr {
		w.comma()
		w.out = append(w.out, `"@`...)
		w.out = append(w.out, written(a.Name)...)
		w.out = append(w.out, `":`...)
		w.out = quote(w.out, a.Value)
	}
	w.open = append(w.open, len(w.runs))
	if depth := len(w.open); depth > len(w.texts) {
		w.texts = append(w.texts, nil)
		w.comments = append(w.comments, nil)
	} else {
		w.texts[depth-1] = w.texts[depth-1][:0]
		w.comments[depth-1] = w.comments[depth-1][:0]
	}
}

// child begins a child of the innermost element.
func (w *xmlWriter) child(id int) {
	if last := len(w.runs) - 1; last >= w.open[len(w.open)-1] {
		if w.runs[last].name == id {
			w.out = append(w.out, ',')
			return
		}
		w.out = append(w.out, ']')
	}
	w.comma()
	r := run{name: id, key: len(w.out)}
	w.out = append(append(w.out, w.names[id].key...), ":["...)
	r.start = len(w.out)
	w.runs = append(w.runs, r)
}

// text adds to the innermost element's own text.
func (w *xmlWriter) text(text []byte) {
	own := &w.texts[len(w.open)-1]
	*own = append(*own, text...)
}

// comment adds to the innermost element's comments. The decoder does not normalise
// line ends in them.
func (w *xmlWriter) comment(text []byte) {
	own := w.comments[len(w.open)-1]
	for {
		before, behind, found := bytes.Cut(text, []byte{'\r'})
		own = append(own, before...)
		if !found {
			break
		}
		own = append(own, '\n')
		text = bytes.TrimPrefix(behind, []byte{'\n'})
	}
	w.comments[len(w.open)-1] = append(own, 0)
}

func (w *xmlWriter) end() {
	last := len(w.open) - 1
	if first := w.open[last]; first < len(w.runs) {
		w.out = append(w.out, ']')
		w.group(w.runs[first:])
		w.runs = w.runs[:first]
	}
	if own := w.texts[last]; skipBlanks(own, 0) < len(own) {
		w.comma()
		w.out = append(w.out, `"#text":`...)
		w.out = quote(w.out, own)
	}
	if own := w.comments[last]; len(own) > 0 {
		w.comma()
		w.out = append(w.out, `"#comment":[`...)
		for len(own) > 0 {
			end := bytes.IndexByte(own, 0)
			w.out = append(quote(w.out, own[:end]), ',')
			own = own[end+1:]
		}
		w.out[len(w.out)-1] = ']'
	}
	w.out = append(w.out, '}')
	w.open = w.open[:last]
	if len(w.runs) > 0 {
		w.runs[len(w.runs)-1].end = len(w.out)
	}
}

// group moves the runs of one name to the place of the first. The runs are those of
// one element, the last in the text. A run is copied once for every element around
// it, of which Limits.Depth allows few.
func (w *xmlWriter) group(runs []run) {
	w.next = slices.Grow(w.next[:0], len(runs))[:len(runs)]
	ignored := false
	for i, r := range runs {
		w.next[i] = 0
		if last := w.names[r.name].last; last > 0 {
			w.next[last-1] = i + 1
			ignored = true
		}
		w.names[r.name].last = i + 1
	}
	for _, r := range runs {
		w.names[r.name].last = 0
	}
	if !ignored {
		return
	}
	from := runs[0].key
	w.scratch = append(w.scratch[:0], w.out[from:]...)
	w.out = w.out[:from]
	for i, r := range runs {
		if r.name < 0 {
			continue // Written with an earlier one.
		}
		w.comma()
		w.out = append(w.out, w.scratch[r.key-from:r.end-from]...)
		for n := w.next[i]; n > 0; n = w.next[n-1] {
			more := &runs[n-1]
			w.out = append(append(w.out, ','), w.scratch[more.start-from:more.end-from]...)
			more.name = -1
		}
		w.out = append(w.out, ']')
	}
}

// comma separates a member from the one before it, if there is one.
func (w *xmlWriter) comma() {
	if c := w.out[len(w.out)-1]; c != '{' && c != ',' {
		w.out = append(w.out, ',')
	}
}

// id returns the index of an element's name in names.
func (w *xmlWriter) id(n xml.Name) int {
	id, ok := w.ids[n]
	if !ok {
		id = len(w.names)
		w.ids[n] = id
		w.names = append(w.names, name{key: quote(nil, written(n))})
	}
	return id
}

// written returns a name as in the report. The decoder has split it at its colon.
func written(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// quote appends text as a JSON string. It is UTF-8, since the report is.
func quote[T ~[]byte | ~string](out []byte, text T) []byte {
	out, _ = jsontext.AppendQuote(out, text)
	return out
}
