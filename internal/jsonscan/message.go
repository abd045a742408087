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

// MaxBytes bounds a message that is scanned, in bytes. An envelope has some 200, a
// researcher's answer some thousand.
const MaxBytes = 1 << 20

// Object is a JSON object in a message, or the beginning of one.
type Object struct {
	// Text is the object as written. It may have duplicate keys or invalid UTF-8, so
	// decode it strictly. If Whole is false, it ends where it stopped being an object.
	Text jsontext.Value
	// Whole says that this is one JSON object, and that nothing after it could belong to
	// it: no further bracket, and no letter, digit or quote without a space.
	Whole bool
}

// Objects returns the outermost objects of a message in order. The beginning of an object
// that breaks off is included, not Whole, so that a cut envelope differs from a missing
// one; objects inside of it are not. A message of more than MaxBytes has none. The texts
// are copies.
func Objects(text string) []Object {
	if len(text) > MaxBytes {
		return nil
	}
	var found []Object
	var d jsontext.Decoder
	data := []byte(text)
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], '{')
		if next < 0 {
			return found
		}
		at += next
		if !begins(data[at+1:]) {
			at++
			continue
		}
		length, whole := extent(&d, data[at:])
		rest := data[at+length:]
		found = append(found, Object{
			Text:  bytes.Clone(data[at : at+length]),
			Whole: whole && free(rest),
		})
		at += length
	}
}

// begins reports whether what follows a brace can be the inside of an object. Braces of
// prose and most code are excluded here.
func begins(inside []byte) bool {
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return len(inside) > 0 && (inside[0] == '"' || inside[0] == '}')
}

// extent returns how many bytes of data, which begins with a brace, are an object, or
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

// free reports whether an object ends before rest unambiguously.
func free(rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	if c := rest[0]; c == '"' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) == 0 || !strings.ContainsRune("}]", rune(rest[0]))
}
