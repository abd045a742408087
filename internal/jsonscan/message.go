// Package jsonscan finds the JSON that an agent was asked to end with in what it
// really ended with: the bare object, one in a code fence, or one amid prose.
//
// It looks for objects only, and judges none: what an object must hold is its
// reader's business. Package verdict and internal/agent/research read with it, so that
// both understand the same message alike.
package jsonscan

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is the length of the longest message that is looked at, in bytes. An
// envelope has some 200, a researcher's answer some thousand.
const MaxBytes = 1 << 20

// Object is what stands in a message from an opening brace on.
type Object struct {
	// Text is the object as the agent wrote it. It may have a key twice or be
	// no UTF-8: whoever decodes it must still be strict. Where Whole is false,
	// it ends where it stopped being an object.
	Text jsontext.Value
	// Whole says that this is one JSON object, and that none of what follows
	// could belong to it: no further bracket, and no letter, digit or quote
	// without a space.
	Whole bool
}

// Objects returns the outermost objects of a message in their order. What looks
// like an object and then breaks off is there as well, not Whole, so that a
// reader can tell a cut envelope from none; objects inside of it are not, for
// they are part of a thought that was never finished. A message of more than
// MaxBytes has none. The texts are copies.
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

// begins reports whether what follows a brace could be the inside of an object.
// The braces of prose and of most code are told apart here.
func begins(inside []byte) bool {
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return len(inside) > 0 && (inside[0] == '"' || inside[0] == '}')
}

// extent returns how many bytes of data, which begins with a brace, are an
// object, or could have become one. It is lenient where leniency only affects
// what is in the object, not where it ends.
func extent(d *jsontext.Decoder, data []byte) (length int, whole bool) {
	d.Reset(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if value, err := d.ReadValue(); err == nil {
		return len(value), true
	} else if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return max(1, min(int(syntax.ByteOffset), len(data))), false
	}
	return len(data), false
}

// free reports whether an object ends before rest for a reader as for a parser.
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
