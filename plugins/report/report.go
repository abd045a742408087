// Package report holds a critic's report as the host sees it: bytes that are
// known to be exactly one JSON value within limits, its digest, and the text at
// any JSON Pointer into it. Nothing unchecked passes this package, so neither a
// guest nor the host has to doubt the JSON behind it again (design section 4).
package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The codes of a report that is refused before any plugin sees it.
const (
	// CodeTooLarge: the report has more bytes than the limit.
	CodeTooLarge fault.Code = "report-too-large"
	// CodeEmpty: there is nothing but white space.
	CodeEmpty fault.Code = "report-empty"
	// CodeInvalidUTF8: some bytes are not UTF-8.
	CodeInvalidUTF8 fault.Code = "report-invalid-utf8"
	// CodeInvalidJSON: the bytes are not one JSON value, or are cut short.
	CodeInvalidJSON fault.Code = "report-invalid-json"
	// CodeDuplicateKey: an object has the same key twice, so that two readers
	// could disagree on what it says.
	CodeDuplicateKey fault.Code = "report-duplicate-key"
	// CodeTooDeep: arrays and objects are nested beyond the limit.
	CodeTooDeep fault.Code = "report-too-deep"
)

// Limits bound what Parse accepts. A zero field takes its default.
type Limits struct {
	// Bytes is the largest report, in bytes.
	Bytes int64
	// Depth is how many arrays and objects may be open at once.
	Depth int
}

// The default limits.
const (
	DefaultBytes = 32 << 20
	DefaultDepth = 128
)

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	return l
}

// Document is a checked report. It is immutable and safe for concurrent use.
type Document struct {
	data   []byte
	digest string
}

// Parse checks data and takes ownership of it: the caller must not modify it
// any more.
//
// # Errors
//
// A *fault.Error with one of this package's codes. None of them quotes the
// report, because a file that was named by mistake may hold secrets.
func Parse(data []byte, limits Limits) (*Document, error) {
	limits = limits.WithDefaults()
	if int64(len(data)) > limits.Bytes {
		return nil, TooLarge(limits.Bytes)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, fault.New(CodeEmpty, "the report is empty")
	}
	if at := invalidUTF8(data); at >= 0 {
		return nil, fault.New(CodeInvalidUTF8, "the report is not UTF-8 at byte %d", at).With("offset", at)
	}
	if at := deeperThan(data, limits.Depth); at >= 0 {
		return nil, fault.New(CodeTooDeep, "the report nests deeper than %d levels at byte %d", limits.Depth, at).
			With("limit", limits.Depth).With("offset", at)
	}
	if err := valid(data); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &Document{data: data, digest: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// TooLarge is the error of a report beyond limit bytes, for readers that stop
// at the limit instead of reading on.
func TooLarge(limit int64) error {
	return fault.New(CodeTooLarge, "the report is larger than %d bytes", limit).With("limit", limit)
}

// Bytes returns the report as it was read. Do not modify it.
func (d *Document) Bytes() []byte { return d.data }

// Digest returns the SHA-256 of the report's bytes, as "sha256:" and 64 hex
// digits.
func (d *Document) Digest() string { return d.digest }

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// deeperThan returns where data opens one array or object more than limit, or
// -1. It looks at brackets alone, so that it can run before the parser, whose
// own limit is fixed.
func deeperThan(data []byte, limit int) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '[', '{':
			if depth++; depth > limit {
				return i
			}
		case ']', '}':
			depth--
		}
	}
	return -1
}

// valid reports whether data is exactly one JSON value without duplicate keys.
func valid(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	_, err := d.ReadValue()
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		}
		return fault.New(CodeInvalidJSON, "the report goes on after its JSON value, at byte %d", d.InputOffset()).
			With("offset", d.InputOffset())
	}
	code, what := CodeInvalidJSON, "is not valid JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, what = CodeDuplicateKey, "has the same key twice in one object"
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "is cut short"
	}
	f := fault.New(code, "the report %s", what)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		f = fault.New(code, "the report %s, at byte %d", what, syntax.ByteOffset).With("offset", syntax.ByteOffset)
		if code == CodeDuplicateKey {
			f = f.With("ref", string(syntax.JSONPointer))
		}
	}
	return f
}
