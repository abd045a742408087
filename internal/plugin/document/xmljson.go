package document

import (
	"bytes"
	"encoding/xml"

	"github.com/go-json-experiment/json/jsontext"
)

// element is an open element. At its end its JSON is copied into its parent's, so each byte
// is copied once per level, and Limits.Depth allows few levels.
type element struct {
	name       xml.Name
	attributes []byte // As members, with commas between them.
	children   []children
	ids        map[xml.Name]int // Indexes into children.
	text       []byte
	comments   []byte // As JSON strings, with commas between them.
}

// children are the children of one name, as JSON with commas between them.
type children struct {
	name     xml.Name
	elements []byte
}

func newElement(t xml.StartElement) element {
	e := element{name: t.Name}
	for _, a := range t.Attr {
		e.attributes = quote(separate(e.attributes), "@"+qualifiedName(a.Name))
		e.attributes = quote(append(e.attributes, ':'), a.Value)
	}
	return e
}

func (e *element) add(child element) {
	id, ok := e.ids[child.name]
	if !ok {
		if e.ids == nil {
			e.ids = make(map[xml.Name]int)
		}
		id = len(e.children)
		e.ids[child.name] = id
		e.children = append(e.children, children{name: child.name})
	}
	to := &e.children[id].elements
	*to = child.append(separate(*to))
}

// comment adds a comment. The decoder does not normalise line ends in it.
func (e *element) comment(text []byte) {
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		text = bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
	}
	e.comments = quote(separate(e.comments), text)
}

func (e *element) append(out []byte) []byte {
	out = append(append(out, '{'), e.attributes...)
	for _, c := range e.children {
		out = append(quote(separate(out), qualifiedName(c.name)), ":["...)
		out = append(append(out, c.elements...), ']')
	}
	if skipBlanks(e.text, 0) < len(e.text) {
		out = quote(append(separate(out), `"#text":`...), e.text)
	}
	if len(e.comments) > 0 {
		out = append(separate(out), `"#comment":[`...)
		out = append(append(out, e.comments...), ']')
	}
	return append(out, '}')
}

// separate appends a comma, unless the next value is the first.
func separate(out []byte) []byte {
	if len(out) == 0 || out[len(out)-1] == '{' {
		return out
	}
	return append(out, ',')
}

// qualifiedName returns a name as in the report. The decoder splits names at their colon.
func qualifiedName(n xml.Name) string {
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
