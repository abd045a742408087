// Package document holds a critic's report as the host sees it: a Source is the
// bytes as they were read, a Document is one JSON value within limits that they
// stand for, with the text at any JSON Pointer into it. JSON is taken as it
// stands, JSON lines become an array, and XML becomes objects and arrays. Nothing
// unchecked passes this package, so neither a guest nor the host has to doubt
// the JSON behind it again (design section 4).
package document

import "github.com/switchyard-dev/switchyard/internal/errs"

// Limits bound what is accepted. A zero field takes its default.
type Limits struct {
	// Bytes is the largest report, in bytes: as it is read, and as JSON.
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

// Document is a checked report: one JSON value, UTF-8, without duplicate keys
// and lone surrogates, within the limits. It is immutable and safe for
// concurrent use.
type Document struct {
	data   []byte
	digest string
}

// Parse is Read and As(JSON) in one, for callers that know that a report is
// JSON. It takes ownership of data, and fails as they do.
func Parse(data []byte, limits Limits) (*Document, error) {
	s, err := Read(data, limits)
	if err != nil {
		return nil, err
	}
	return s.As(JSON)
}

// Bytes returns the document's JSON. Do not modify it.
func (d *Document) Bytes() []byte { return d.data }

// Digest returns the digest of the Source that the document was made of.
func (d *Document) Digest() string { return d.digest }

// TooLarge is the error of a report beyond limit bytes, for readers that stop
// at the limit instead of reading on.
func TooLarge(limit int64) error {
	return errs.New(errs.ReportTooLarge, "the report is larger than %d bytes", limit).With("limit", limit)
}

// tooLargeAsJSON is the error of a report that only its JSON takes beyond limit.
func tooLargeAsJSON(limit int64) error {
	return errs.New(errs.ReportTooLarge, "the report is larger than %d bytes once it is JSON", limit).With("limit", limit)
}
