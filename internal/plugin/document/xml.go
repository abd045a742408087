package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unique"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The limits on a report's elements, their names, and the attributes of one element.
// A million elements of 32 bytes, fewer than any finding takes, fill 32 MiB, and
// formats have some dozen names. The limits keep the memory for 32 MiB below 0.5 GB
// for text of only quotation marks; real reports stay below 150 MB.
const (
	maxElements   = 1_000_000
	maxNames      = 10_000
	maxAttributes = 10_000
)

// xmlReader reads a report as XML and writes it as JSON. It takes encoding/xml's
// tokens without namespaces (RawToken), so that names stay as written, and checks
// what encoding/xml does not.
type xmlReader struct {
	source   *Source
	text     []byte // The report without a byte order mark.
	d        *xml.Decoder
	open     []*element
	names    map[xml.Name][]byte // Of elements, as JSON.
	bound    map[string][]unique.Handle[string]
	elements int
	out      []byte // The document.
	size     int64  // The bytes of all elements that have ended.
}

// element is an open element.
type element struct {
	name     xml.Name
	json     []byte           // Its attributes, after a brace.
	lists    []list           // Its children, by first appearance.
	byName   map[xml.Name]int // Indexes into lists.
	size     int64            // Of its children, in bytes.
	text     []byte
	comments []byte   // As JSON, with a comma behind each.
	prefixes []string // The prefixes that it binds to namespaces.
}

// list is the children of one name.
type list struct {
	name xml.Name
	json []byte
}

// readXML returns the JSON of the report's element.
func (s *Source) readXML() ([]byte, error) {
	text := s.data[s.text:]
	r := &xmlReader{
		source: s,
		text:   text,
		d:      xml.NewDecoder(bytes.NewReader(text)),
		names:  make(map[xml.Name][]byte),
		bound:  make(map[string][]unique.Handle[string]),
	}
	if at := forbidden(text); at >= 0 {
		return nil, r.invalid("has a character that XML does not allow", at)
	}
	if err := r.checkDeclaration(); err != nil {
		return nil, err
	}
	for {
		at := int(r.d.InputOffset())
		if err := r.token(at); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if max(r.size, int64(len(r.out))) > s.limits.Bytes {
			return nil, tooLargeAsJSON(s.limits.Bytes)
		}
	}
	switch {
	case r.elements == 0:
		return nil, r.invalid("has no XML element", len(text))
	case len(r.open) > 0:
		return nil, r.invalid("is cut short", len(text))
	}
	return r.out, nil
}

// token reads the token at at. It returns io.EOF after the last one.
func (r *xmlReader) token(at int) error {
	if err := r.checkTag(at); err != nil {
		return err
	}
	token, err := r.d.RawToken()
	if err != nil {
		return r.refused(err)
	}
	raw := r.text[at:r.d.InputOffset()]
	switch t := token.(type) {
	case xml.StartElement:
		return r.start(t, at)
	case xml.EndElement:
		return r.end(t.Name, at)
	case xml.CharData:
		return r.characters(t, raw, at)
	case xml.ProcInst:
		return r.instruction(t, raw, at)
	case xml.Comment:
		return r.comment(t, at)
	case xml.Directive:
		return r.invalid("has a DOCTYPE or another declaration, which is not read", at)
	}
	return r.invalid("is not well-formed XML", at)
}

func (r *xmlReader) start(t xml.StartElement, at int) error {
	switch {
	case len(r.open) == 0 && r.elements > 0:
		return r.invalid("goes on after its XML element", at)
	case r.elements == maxElements:
		return r.tooMany(maxElements, "elements", at)
	case 2*(len(r.open)+1) > r.source.limits.Depth: // Each element is an object in an array, or in the document's object.
		return r.tooDeep(at)
	}
	e := &element{name: t.Name}
	r.bind(e, t.Attr)
	if !r.distinct(t.Attr) {
		return r.invalid("has the same attribute twice in one XML element", at)
	}
	r.elements++
	r.open = append(r.open, e)
	if _, ok := r.names[t.Name]; !ok {
		r.names[t.Name] = quote(nil, written(t.Name))
	}
	if len(r.names) > maxNames {
		return r.tooMany(maxNames, "element names", at)
	}
	e.json = append(e.json, '{')
	for _, a := range t.Attr {
		e.json = append(e.json, `"@`...)
		e.json = append(e.json, written(a.Name)...)
		e.json = append(e.json, `":`...)
		e.json = append(quote(e.json, a.Value), ',')
	}
	return nil
}

// end ends an element: its JSON joins its parent's, or is the document's.
func (r *xmlReader) end(name xml.Name, at int) error {
	last := len(r.open) - 1
	if last < 0 || r.open[last].name != name {
		return r.invalid("has an XML end tag that closes no element", at)
	}
	e := r.open[last]
	r.open[last] = nil // Its JSON is about to be copied.
	r.open = r.open[:last]
	for _, p := range e.prefixes {
		r.bound[p] = r.bound[p][:len(r.bound[p])-1]
	}
	if last == 0 {
		r.out = append(append(append(r.out, '{'), r.names[name]...), ':')
		r.out = append(r.write(r.out, e), '}')
		return nil
	}
	parent := r.open[last-1]
	list := parent.list(name)
	before := len(list.json)
	list.json = append(r.write(list.json, e), ',')
	written := int64(len(list.json) - before)
	parent.size += written
	r.size += written - e.size
	return nil
}

// list returns the list of the children called name.
func (e *element) list(name xml.Name) *list {
	if last := len(e.lists) - 1; last >= 0 && e.lists[last].name == name {
		return &e.lists[last]
	}
	i, ok := e.byName[name]
	if !ok {
		if e.byName == nil {
			e.byName = make(map[xml.Name]int)
		}
		i = len(e.lists)
		e.byName[name] = i
		e.lists = append(e.lists, list{name: name})
	}
	return &e.lists[i]
}

// write appends an element's JSON to out. Every member has a comma behind it at first.
func (r *xmlReader) write(out []byte, e *element) []byte {
	out = append(slices.Grow(out, len(e.json)+int(e.size)+len(e.text)+len(e.comments)), e.json...)
	for _, l := range e.lists {
		out = append(append(out, r.names[l.name]...), ":["...)
		out = append(out, l.json[:len(l.json)-1]...)
		out = append(out, "],"...)
	}
	if skipBlanks(e.text, 0) < len(e.text) {
		out = append(quote(append(out, `"#text":`...), e.text), ',')
	}
	if len(e.comments) > 0 {
		out = append(append(out, `"#comment":[`...), e.comments...)
		out = append(out[:len(out)-1], "],"...)
	}
	return append(bytes.TrimSuffix(out, []byte{','}), '}')
}

// characters reads text and CDATA, which the decoder has unescaped. raw is the
// original: outside the root element only literal white space is allowed.
func (r *xmlReader) characters(text, raw []byte, at int) error {
	if len(r.open) == 0 {
		if blank := skipBlanks(raw, 0); blank < len(raw) {
			return r.invalid("has text outside of its XML element", at+blank).WithHint(summaryHint)
		}
		return nil
	}
	if raw[0] != '<' {
		if bad := surrogate(raw); bad >= 0 {
			return r.invalid("refers to a character that XML does not allow", at+bad)
		}
	}
	e := r.open[len(r.open)-1]
	e.text = append(e.text, text...)
	return nil
}

// comment reads a comment, whose line ends the decoder does not normalise. Comments
// outside the root element are ignored.
func (r *xmlReader) comment(text []byte, at int) error {
	switch {
	case len(r.open) == 0:
		return nil
	case 2*len(r.open)+1 > r.source.limits.Depth: // It is in an array in its element.
		return r.tooDeep(at)
	}
	text = bytes.Trim(text, blanks)
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	e := r.open[len(r.open)-1]
	e.comments = append(quote(e.comments, text), ',')
	return nil
}

// instruction checks a processing instruction. For the decoder the XML declaration is
// one too; checkDeclaration has checked it.
func (r *xmlReader) instruction(t xml.ProcInst, raw []byte, at int) error {
	if strings.EqualFold(t.Target, "xml") && (at > 0 || t.Target != "xml") {
		return r.invalid("has an XML declaration that is not at its start", at)
	}
	rest := raw[len("<?")+len(t.Target):]
	if !bytes.HasPrefix(rest, []byte("?>")) && skipBlanks(rest, 0) == 0 {
		return r.invalid("is not well-formed XML", at)
	}
	return nil
}

// refused returns the error of a token that the decoder refuses, or io.EOF. It drops
// the decoder's message, which may quote the report.
func (r *xmlReader) refused(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	at := int(r.d.InputOffset())
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok && strings.HasPrefix(syntax.Msg, "unexpected EOF") {
		return r.invalid("is cut short", at)
	}
	return r.invalid("is not well-formed XML", at)
}

// tooMany is the error of the element at at, which exceeds a limit other than
// bytes.
func (r *xmlReader) tooMany(limit int, unit string, at int) error {
	return r.broken(errs.ReportTooLarge, fmt.Sprintf("has more than %d XML %s", limit, unit), at).With("limit", limit).With("unit", unit)
}

func (r *xmlReader) invalid(what string, at int) *errs.Error {
	return r.broken(errs.ReportInvalidXML, what, at)
}

func (r *xmlReader) broken(code errs.Code, what string, at int) *errs.Error {
	at += r.source.text
	return onLine(broken(code, what, at), r.source.line(at))
}

// tooDeep is the error of an element or a comment whose JSON nests too deep.
func (r *xmlReader) tooDeep(at int) error {
	at += r.source.text
	return onLine(tooDeep(r.source.limits.Depth, at), r.source.line(at))
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
