// Package jsonscan finds the JSON objects in an agent's final message: alone, in a code
// fence, or in prose. It does not check their contents.
package jsonscan

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is the maximum size of a scanned message. An envelope has some 200 bytes, a
// researcher's answer some thousand.
const MaxBytes = 1 << 20

// Object is a JSON object in a message, or the beginning of one.
type Object struct {
	// Text is the object as written. It may have duplicate keys or invalid UTF-8, so
	// decode it strictly. The text of a broken object goes on until the next object can
	// begin. It may hide one: a stray quote makes the beginning of an object look like a string.
	Text jsontext.Value
	// Whole reports whether this is one JSON object, and the text after it cannot belong to
	// it: it does not go on with a closing bracket, or with a letter, digit or quote without
	// a space.
	Whole bool
}

// Objects returns the outermost objects of a message in order. It includes the beginning of
// an object that breaks off, which is not Whole, so that a cut envelope differs from a
// missing one. It does not include objects inside it. It returns nil for a message of more
// than MaxBytes. The texts are copies.
func Objects(text string) []Object {
	if len(text) > MaxBytes {
		return nil
	}
	var found []Object
	var d jsontext.Decoder
	data := []byte(text)
	for at := nextObject(data, 0); at < len(data); {
		length, whole := extent(&d, data[at:])
		end := at + length
		if !whole {
			end = nextObject(data, end)
		}
		found = append(found, Object{
			Text:  bytes.Clone(data[at:end]),
			Whole: whole && isBoundary(data[end:]),
		})
		at = nextObject(data, end)
	}
	return found
}

// nextObject returns the index of the first brace at or after from that can begin an object,
// or len(data).
func nextObject(data []byte, from int) int {
	for at := from; ; at++ {
		next := bytes.IndexByte(data[at:], '{')
		if next < 0 {
			return len(data)
		}
		if at += next; isObjectStart(data[at+1:]) {
			return at
		}
	}
}

// isObjectStart reports whether a text after a brace can be the inside of an object. This
// excludes the braces of prose and of most code.
func isObjectStart(inside []byte) bool {
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return len(inside) > 0 && (inside[0] == '"' || inside[0] == '}')
}

// extent returns the length of the object at the beginning of data, or of the text that
// could have become one. It is lenient about the contents, but not about the end.
func extent(d *jsontext.Decoder, data []byte) (length int, whole bool) {
	d.Reset(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if value, err := d.ReadValue(); err == nil {
		return len(value), true
	} else if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return max(1, min(int(syntax.ByteOffset), len(data))), false
	}
	return len(data), false
}

// isBoundary reports whether an object ends before rest unambiguously.
func isBoundary(rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	if c := rest[0]; c == '"' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) == 0 || !strings.ContainsRune("}]", rune(rest[0]))
}
