package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The limits of a report's elements, and of the names of children and the attributes of one
// element. 32 MiB have a million elements if each has 32 bytes, which is less than a finding
// needs. Formats have a few dozen names. With these limits, 32 MiB of quotation marks need
// less than 0.5 GB of memory, and real reports less than 150 MB.
const (
	maxElements   = 1_000_000
	maxNames      = 10_000
	maxAttributes = 10_000
)

// xmlReader reads a report as XML and writes it as JSON. It uses the raw tokens of
// encoding/xml, so that names stay as written, and adds checks that encoding/xml lacks.
type xmlReader struct {
	source   *Source
	base     int    // The offset of text in the report.
	text     []byte // The report without a byte order mark.
	d        *xml.Decoder
	open     []element
	elements int
	out      []byte // The JSON of the root element, once it has ended.
}

// readXML returns the JSON of the report's element.
func (s *Source) readXML() ([]byte, error) {
	text := s.data[s.text:]
	r := &xmlReader{
		source: s,
		base:   s.text,
		text:   text,
		d:      xml.NewDecoder(bytes.NewReader(text)),
	}
	if at := findForbidden(text); at >= 0 {
		return nil, r.errInvalid("has a character that XML does not allow", at)
	}
	if what, at := checkDeclaration(text); what != "" {
		return nil, r.errInvalid(what, at)
	}
	for {
		at := int(r.d.InputOffset())
		if err := r.token(at); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	switch {
	case r.elements == 0:
		return nil, r.errInvalid("has no XML element", len(text))
	case len(r.open) > 0:
		return nil, r.errInvalid("is cut short", len(text))
	}
	return append(r.out, '}'), nil
}

// token reads the token at at. It returns io.EOF after the last one.
func (r *xmlReader) token(at int) error {
	attributes, what, bad := checkTag(r.text, at)
	if what != "" {
		return r.errInvalid(what, bad)
	}
	if attributes > maxAttributes {
		return r.errTooMany(maxAttributes, "attributes of one element", at)
	}
	token, err := r.d.RawToken()
	if err != nil {
		return r.errDecoder(err)
	}
	raw := r.text[at:r.d.InputOffset()]
	switch t := token.(type) {
	case xml.StartElement:
		if err := r.start(t, at); err != nil {
			return err
		}
		if !bytes.HasSuffix(raw, []byte("/>")) {
			return nil
		}
		if token, err = r.d.RawToken(); err != nil { // The decoder adds the end tag.
			return r.errDecoder(err)
		}
		invented, ok := token.(xml.EndElement)
		if !ok {
			return r.errInvalid("is not well-formed XML", at)
		}
		return r.end(invented.Name, at)
	case xml.EndElement:
		return r.end(t.Name, at)
	case xml.CharData:
		return r.characters(t, raw, at)
	case xml.ProcInst:
		return r.instruction(t, raw, at)
	case xml.Comment:
		return r.comment(t, at)
	case xml.Directive:
		return r.errInvalid("has a DOCTYPE or another declaration, which is not read", at)
	}
	return r.errInvalid("is not well-formed XML", at)
}

func (r *xmlReader) start(t xml.StartElement, at int) error {
	switch {
	case len(r.open) == 0 && r.elements > 0:
		return r.errInvalid("goes on after its XML element", at)
	case r.elements == maxElements:
		return r.errTooMany(maxElements, "elements", at)
	case 2*(len(r.open)+1) > r.source.limits.Depth: // Each element is an object in an array or object.
		return onLine(errTooDeep(r.source.limits.Depth, r.base+at), r.source.line(r.base+at))
	case !areDistinct(t.Attr):
		return r.errInvalid("has the same attribute twice in one XML element", at)
	}
	r.elements++
	r.open = append(r.open, newElement(t))
	return nil
}

func (r *xmlReader) end(name xml.Name, at int) error {
	last := len(r.open) - 1
	if last < 0 || r.open[last].name != name {
		return r.errInvalid("has an XML end tag that closes no element", at)
	}
	e := r.open[last]
	r.open[last] = element{} // Otherwise every level holds its children's JSON.
	r.open = r.open[:last]
	size := 0
	if last == 0 {
		r.out = e.append(append(quote([]byte{'{'}, qualifiedName(name)), ':'))
		size = len(r.out) + 1
	} else {
		parent := &r.open[last-1]
		parent.add(e)
		if len(parent.children) > maxNames {
			return r.errTooMany(maxNames, "names of one element's children", at)
		}
		size = len(parent.children[parent.ids[name]].elements)
	}
	return r.checkSize(size)
}

func (r *xmlReader) checkSize(size int) error {
	if int64(size) > r.source.limits.Bytes {
		return errTooLargeAsJSON(r.source.limits.Bytes)
	}
	return nil
}

// characters reads text or CDATA. raw is the original, which the decoder has unescaped:
// outside of the root element only literal white space is allowed.
func (r *xmlReader) characters(text, raw []byte, at int) error {
	if len(r.open) == 0 {
		if blank := skipBlanks(raw, 0); blank < len(raw) {
			return r.errInvalid("has text outside of its XML element", at+blank).WithHint(summaryHint)
		}
		return nil
	}
	if raw[0] != '<' {
		if bad := findSurrogate(raw); bad >= 0 {
			return r.errInvalid("refers to a character that XML does not allow", at+bad)
		}
	}
	e := &r.open[len(r.open)-1]
	e.text = append(e.text, text...)
	return nil
}

// comment reads a comment. Comments outside the root element are ignored.
func (r *xmlReader) comment(text []byte, at int) error {
	switch {
	case len(r.open) == 0:
		return nil
	case 2*len(r.open)+1 > r.source.limits.Depth: // It is in an array in its element.
		return onLine(errTooDeep(r.source.limits.Depth, r.base+at), r.source.line(r.base+at))
	}
	e := &r.open[len(r.open)-1]
	e.comment(bytes.Trim(text, blanks))
	return r.checkSize(len(e.comments))
}

// instruction checks a processing instruction. The decoder also returns the XML declaration
// as one, which checkDeclaration has checked.
func (r *xmlReader) instruction(t xml.ProcInst, raw []byte, at int) error {
	if strings.EqualFold(t.Target, "xml") && (at > 0 || t.Target != "xml") {
		return r.errInvalid("has an XML declaration that is not at its start", at)
	}
	rest := raw[len("<?")+len(t.Target):]
	if !bytes.HasPrefix(rest, []byte("?>")) && skipBlanks(rest, 0) == 0 {
		return r.errInvalid("is not well-formed XML", at)
	}
	return nil
}

// errDecoder converts an error of the decoder other than io.EOF. It drops the decoder's message,
// which may quote the report.
func (r *xmlReader) errDecoder(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	at := int(r.d.InputOffset())
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok && strings.HasPrefix(syntax.Msg, "unexpected EOF") {
		return r.errInvalid("is cut short", at)
	}
	return r.errInvalid("is not well-formed XML", at)
}

// errTooMany returns the error of an element that exceeds a limit other than bytes.
func (r *xmlReader) errTooMany(limit int, unit string, at int) error {
	f := errAt(errs.ReportTooLarge, fmt.Sprintf("has more than %d XML %s", limit, unit), r.base+at).With("limit", limit).With("unit", unit)
	return onLine(f, r.source.line(r.base+at))
}

func (r *xmlReader) errInvalid(what string, at int) *errs.Error {
	return onLine(errAt(errs.ReportInvalidXML, what, r.base+at), r.source.line(r.base+at))
}
