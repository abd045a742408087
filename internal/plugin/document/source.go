package document

import (
	"bytes"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Source is a report's bytes as they were read. Its format depends on the plugin that reads
// it. It is immutable and safe for concurrent use. As computes each format once.
type Source struct {
	data   []byte
	text   int // The offset of the text in data, after a byte order mark.
	digest string
	limits Limits

	first func() (head, error) // The JSON value at the beginning of the text.
	json  func() (*Document, error)
	lines func() (*Document, error)
	xml   func() (*Document, error)
}

// byteOrderMark may precede a report: tools on Windows write it, and RFC 8259 lets parsers
// ignore it.
const byteOrderMark = "\ufeff"

// blanks are the white space of JSON and of XML alike.
const blanks = " \t\r\n"

// Read takes ownership of data: the caller must not modify it afterwards.
//
// # Errors
//
// report-too-large or report-invalid-utf8. Errors of this package do not quote the report: a
// file that was named by mistake may contain secrets.
func Read(data []byte, limits Limits) (*Source, error) {
	limits = limits.WithDefaults()
	if int64(len(data)) > limits.Bytes {
		return nil, TooLarge(limits.Bytes)
	}
	if at := textutil.InvalidUTF8(data); at >= 0 {
		return nil, errs.New(errs.ReportInvalidUTF8, "the report is not UTF-8 at byte %d", at).With("offset", at)
	}
	text := bytes.TrimPrefix(data, []byte(byteOrderMark))
	s := &Source{data: data, text: len(data) - len(text), digest: digest.Of(data), limits: limits}
	s.first = sync.OnceValues(s.readFirst)
	s.json = sync.OnceValues(func() (*Document, error) { return s.document(s.readJSON()) })
	s.lines = sync.OnceValues(func() (*Document, error) { return s.document(s.readLines(false)) })
	s.xml = sync.OnceValues(func() (*Document, error) { return s.document(s.readXML()) })
	return s, nil
}

// Digest returns the SHA-256 of the report's bytes as they were read, as
// "sha256:" and 64 hex digits.
func (s *Source) Digest() string { return s.digest }

// As returns the report read as format f, without a byte order mark:
//
//   - JSON is the text itself.
//   - Lines is an array of the lines' values, in order, without blank lines. The
//     array is "[", the text with a comma instead of the line feed between two
//     values, and "]".
//   - XML is an object with one member, the root element by its name. An element is
//     an object of its attributes, named "@" and their name; its child elements by
//     name, each an array; its own text, "#text", unless it is white space; and its
//     comments without surrounding white space, "#comment", an array, if there are
//     any. Members are in that order, then by first appearance. Names are as written.
//     Line ends are line feeds; other white space in attributes is unchanged.
//
// # Errors
//
// report-empty, report-invalid-json, report-duplicate-key, report-invalid-xml,
// report-too-deep, report-too-large if only the JSON is, and report-wrong-format for an
// unknown format. The details have the offset in the report as it was read, and the
// line if f is Lines or XML.
func (s *Source) As(f Format) (*Document, error) {
	if s.isBlank() {
		return nil, errs.New(errs.ReportEmpty, "the report is empty")
	}
	switch f {
	case JSON:
		return s.json()
	case Lines:
		return s.lines()
	case XML:
		return s.xml()
	}
	return nil, s.errWrongFormat([]Format{f})
}

// AsValues is As(Lines), but a value may span lines, and blank text is an empty array.
func (s *Source) AsValues() (*Document, error) {
	if s.isBlank() {
		return s.document([]byte("[]"), nil)
	}
	return s.document(s.readLines(true))
}

func (s *Source) isBlank() bool { return len(bytes.TrimLeft(s.data[s.text:], blanks)) == 0 }

// For returns the document for a plugin that reads formats. Text that begins with
// "<" is XML. Other text is JSON, or JSON lines if the plugin reads only those, or if
// it reads both and the text continues after its first value.
//
// # Errors
//
// report-wrong-format if the report is not in any of the formats, and the errors of As.
func (s *Source) For(formats []Format) (*Document, error) {
	wants := func(f Format) bool { return slices.Contains(formats, f) }
	switch isXML := s.looksLikeXML(); {
	case s.isBlank():
		return s.As(JSON)
	case isXML && wants(XML):
		return s.As(XML)
	case !isXML && wants(JSON) && wants(Lines):
		return s.jsonOrLines()
	case !isXML && wants(JSON):
		return s.As(JSON)
	case !isXML && wants(Lines):
		return s.As(Lines)
	}
	return nil, s.errWrongFormat(formats)
}

// Err returns an error if the report is not valid in the format that it seems to have. It
// explains why plugins do not recognise a report, for example one that is cut short.
func (s *Source) Err() error {
	_, err := s.For([]Format{JSON, Lines, XML})
	return err
}

// jsonOrLines reads text that is JSON or JSON lines. If it is invalid, the error is that of
// the likelier format: lines, unless the first value spans several lines.
func (s *Source) jsonOrLines() (*Document, error) {
	doc, err := s.As(JSON)
	if err == nil {
		return doc, nil
	}
	if first, invalid := s.first(); invalid != nil || first.spansLines {
		return nil, err
	}
	return s.As(Lines)
}

func (s *Source) looksLikeXML() bool {
	text := bytes.TrimLeft(s.data[s.text:], blanks)
	return len(text) > 0 && text[0] == '<'
}

func (s *Source) errWrongFormat(want []Format) error {
	got := "not XML"
	if s.looksLikeXML() {
		got = "XML"
	}
	return errs.New(errs.ReportWrongFormat, "the report is %s, and the plugin reads %s", got, words(want)).
		With("got", got).With("want", words(want))
}

// document returns a Document with the report's JSON.
func (s *Source) document(data []byte, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	return &Document{data: data, digest: s.digest}, nil
}

// line returns the number of the line that contains offset, from 1.
func (s *Source) line(offset int) int {
	return 1 + bytes.Count(s.data[:offset], []byte{'\n'})
}
