package render

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxIndented is the number of levels of JSON that are indented. Deeper levels, such as in a
// report's raw text, stay on their line: ten megabytes of brackets would get gigabytes
// of spaces.
const maxIndented = 8

// indenter indents compact JSON, as it is written, by two spaces a level.
type indenter struct {
	w       io.Writer
	depth   int
	quoted  bool // inside a string
	escaped bool // after a backslash
	opened  bool // after a bracket that may be closed at once
	line    []byte
}

// Write implements io.Writer for texts that together are valid JSON without white
// space.
func (in *indenter) Write(text []byte) (int, error) {
	in.line = in.line[:0]
	for rest := text; len(rest) > 0; {
		if in.quoted && !in.escaped {
			n := bytes.IndexAny(rest, `"\`)
			if n < 0 {
				n = len(rest)
			}
			in.line = append(in.line, rest[:n]...)
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		in.byte(rest[0])
		rest = rest[1:]
	}
	if _, err := in.w.Write(in.line); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (in *indenter) byte(c byte) {
	if in.quoted {
		in.line = append(in.line, c)
		in.quoted = in.escaped || c != '"'
		in.escaped = c == '\\' && !in.escaped
		return
	}
	closes := c == '}' || c == ']'
	if in.opened && !closes {
		in.newLine(in.depth)
	} else if !in.opened && closes {
		in.newLine(in.depth - 1)
	}
	in.opened = false
	in.line = append(in.line, c)
	switch c {
	case '"':
		in.quoted = true
	case '{', '[':
		in.depth++
		in.opened = true
	case '}', ']':
		in.depth--
	case ',':
		in.newLine(in.depth)
	case ':':
		if in.depth <= maxIndented {
			in.line = append(in.line, ' ')
		}
	}
}

// newLine starts a line with levels of indentation, unless the text is nested too deep.
func (in *indenter) newLine(levels int) {
	if in.depth > maxIndented {
		return
	}
	in.line = append(in.line, '\n')
	for range levels {
		in.line = append(in.line, "  "...)
	}
}

// JSON writes value as indented JSON. It replaces invalid UTF-8: a path may contain any
// bytes, and an error about it must not get lost. It escapes hidden characters.
func JSON(w io.Writer, value any) error {
	return writeJSON(w, &indenter{w: textutil.JSONWriter(w)}, value)
}

// JSONObject is JSON in one line.
func JSONObject(w io.Writer, value any) error {
	return writeJSON(w, textutil.JSONWriter(w), value)
}

func writeJSON(w, formatted io.Writer, value any) error {
	err := json.MarshalWrite(formatted, value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// JSONLine writes value as one line of JSON, raw texts byte for byte.
func JSONLine(w io.Writer, value any) error {
	if err := json.MarshalWrite(w, value, jsontext.PreserveRawStrings(true)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
