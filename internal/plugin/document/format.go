package document

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Format is a report's format. Its text is for messages.
type Format string

// The formats that the host reads.
const (
	// JSON is one JSON value.
	JSON Format = "JSON"
	// Lines is one JSON value per line.
	Lines Format = "JSON lines"
	// XML is one XML 1.0 element in UTF-8.
	XML Format = "XML"
)

// FormatOf returns the format of a media type, and whether the host reads it. It ignores
// parameters and case. RFC 6839 defines the suffixes +json and +xml.
func FormatOf(mediaType string) (Format, bool) {
	name, _, _ := strings.Cut(mediaType, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "application/json":
		return JSON, true
	case "application/x-ndjson", "application/jsonl":
		return Lines, true
	case "application/xml", "text/xml":
		return XML, true
	}
	kind, rest, ok := strings.Cut(name, "/")
	plus := strings.LastIndexByte(rest, '+')
	if !ok || kind == "" || plus < 1 {
		return "", false
	}
	switch rest[plus:] {
	case "+json":
		return JSON, true
	case "+xml":
		return XML, true
	}
	return "", false
}

// words lists formats for a message: "JSON or XML".
func words(formats []Format) string { return strings.Join(textutil.Strings(formats), " or ") }
