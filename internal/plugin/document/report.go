// Package document reads critics' reports. A Source is a report's bytes as they were read. A
// Document is the report as one JSON value within limits, with access by JSON Pointer: JSON
// is unchanged, JSON lines become an array, and XML becomes objects and arrays. Guests and
// the host can rely on a Document's JSON, which is checked here.
package document

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Limits are the limits of a report. A zero field takes its default.
type Limits struct {
	// Bytes is the maximum size in bytes, of the report as it is read and as JSON.
	Bytes int64
	// Depth is the maximum nesting of arrays and objects.
	Depth int
}

// The default limits.
const (
	DefaultBytes = 32 << 20
	DefaultDepth = 128
)

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	return Limits{Bytes: cmp.Or(l.Bytes, DefaultBytes), Depth: cmp.Or(l.Depth, DefaultDepth)}
}

// Document is a checked report: one JSON value in UTF-8, without duplicate keys or
// lone surrogates, within the limits. It is immutable and safe for concurrent use.
type Document struct {
	data   []byte
	digest string
}

// Parse is Read followed by As(JSON), with their errors. It takes ownership of
// data.
func Parse(data []byte, limits Limits) (*Document, error) {
	s, err := Read(data, limits)
	if err != nil {
		return nil, err
	}
	return s.As(JSON)
}

// Bytes returns the document's JSON. Do not modify it.
func (d *Document) Bytes() []byte { return d.data }

// Digest returns the digest of the document's Source.
func (d *Document) Digest() string { return d.digest }

// TooLarge returns the error of a report with more than limit bytes, for readers that stop
// at the limit.
func TooLarge(limit int64) error {
	return errs.New(errs.ReportTooLarge, "the report is larger than %d bytes", limit).With("limit", limit)
}

// errTooLargeAsJSON returns the error of a report with more than limit bytes of JSON.
func errTooLargeAsJSON(limit int64) error {
	return errs.New(errs.ReportTooLarge, "the report is larger than %d bytes once it is JSON", limit).With("limit", limit)
}
