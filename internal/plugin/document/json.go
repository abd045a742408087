package document

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// head is the JSON value at the beginning of a text: the whole report if that is JSON, and
// the first element if it is JSON lines.
type head struct {
	start, end int
	spansLines bool
	depth      int // The nesting of its arrays and objects.
}

// readFirst finds and checks the first value of the text.
func (s *Source) readFirst() (head, error) {
	start := skipBlanks(s.data, s.text)
	depth, at := nesting(s.data, start, s.limits.Depth)
	if at >= 0 {
		return head{}, errTooDeep(s.limits.Depth, at)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(s.data[s.text:]))
	if _, err := d.ReadValue(); err != nil {
		return head{}, errInvalidJSON(err, s.text)
	}
	end := s.text + int(d.InputOffset())
	return head{start, end, bytes.IndexByte(s.data[start:end], '\n') >= 0, depth}, nil
}

// readJSON returns the text if it is exactly one JSON value.
func (s *Source) readJSON() ([]byte, error) {
	first, err := s.first()
	if err != nil {
		return nil, err
	}
	if rest := skipBlanks(s.data, first.end); rest < len(s.data) {
		return nil, errTrailing(rest)
	}
	return s.data[s.text:], nil
}

// errInvalidJSON converts the error of a decoder that began at base.
func errInvalidJSON(err error, base int) *errs.Error {
	code, what := errs.ReportInvalidJSON, "is not valid JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, what = errs.ReportDuplicateKey, "has the same key twice in one object"
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "is cut short"
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return errAt(code, what, base+int(syntax.ByteOffset))
	}
	return errs.New(code, "the report %s", what)
}

func errTrailing(at int) *errs.Error {
	return errAt(errs.ReportInvalidJSON, "goes on after its JSON value", at).WithHint(summaryHint)
}

const summaryHint = "if the tool writes a summary behind its report, turn that off: golangci-lint run --show-stats=false"

func errTooDeep(limit, at int) *errs.Error {
	return errs.New(errs.ReportTooDeep, "the report nests deeper than %d levels at byte %d", limit, at).
		With("limit", limit).With("offset", at)
}

func errAt(code errs.Code, what string, at int) *errs.Error {
	return errs.New(code, "the report %s, at byte %d", what, at).With("offset", at)
}

// skipBlanks returns the offset of the first byte from i that is not white space.
func skipBlanks(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// nesting returns the nesting of the value at i, and the offset at which it exceeds limit,
// or -1. It reads only brackets and strings, so it can run before the parser, which has a
// fixed limit of its own.
func nesting(data []byte, i, limit int) (deepest, at int) {
	if i >= len(data) || data[i] != '[' && data[i] != '{' {
		return 0, -1
	}
	end, deepest, ok := containerEnd(data, i, limit)
	if !ok {
		return deepest, end
	}
	return deepest, -1
}
