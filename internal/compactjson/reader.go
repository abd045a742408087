package compactjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// reader reads JSON from the front. Its methods return false for text that is not JSON, and
// for text that it leaves to the general decoder: white space, names with escapes,
// exponents, surrogates, and objects and nesting of unusual size.
type reader struct {
	text  []byte
	at    int
	depth int
	bytes uint64 // the bits of all bytes in strings
	// names are the names in the objects that are being read, the innermost object last.
	names []span
	// recent has recently read strings by a hash. Most strings of a record are also in the
	// next one, and are not allocated again.
	recent [256]string
}

type span struct{ from, to int }

const (
	maxDepth   = 100
	maxMembers = 64
	maxRecent  = 80 // bytes, enough for a digest
)

// ones times a byte is a word of eight such bytes.
const ones = 0x0101010101010101

// zeros sets the highest bit of each zero byte of a word, and perhaps of bytes above the
// lowest one.
func zeros(word uint64) uint64 { return (word - ones) &^ word & (0x80 * ones) }

// plain returns the number of bytes before the next quote, backslash or control character.
func (r *reader) plain() int {
	rest := r.text[r.at:]
	n, seen := 0, r.bytes
	for ; len(rest)-n >= 8; n += 8 {
		word := binary.LittleEndian.Uint64(rest[n:])
		seen |= word
		control := (word - 0x20*ones) &^ word & (0x80 * ones)
		if found := zeros(word^'"'*ones) | zeros(word^'\\'*ones) | control; found != 0 {
			r.bytes = seen
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for ; n < len(rest); n++ {
		seen |= uint64(rest[n])
		if c := rest[n]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	r.bytes = seen
	return n
}

// isUTF8 reports whether the strings that were read are UTF-8.
func (r *reader) isUTF8() bool { return r.bytes&(0x80*ones) == 0 || utf8.Valid(r.text) }

// is reads the next byte if it is c.
func (r *reader) is(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// word reads a word such as null.
func (r *reader) word(word string) bool {
	if !bytes.HasPrefix(r.text[r.at:], []byte(word)) {
		return false
	}
	r.at += len(word)
	return true
}

// object reads an object, and calls member to read the value of each name. hash is
// bitOf(name).
func (r *reader) object(member func(name []byte, hash uint64) bool) bool {
	if r.depth == maxDepth || !r.is('{') {
		return false
	}
	r.depth++
	if r.is('}') {
		return r.leave()
	}
	first, hashes := len(r.names), uint64(0)
	for range maxMembers {
		name, escaped, ok := r.stringText()
		if !ok || escaped || !r.is(':') {
			return false
		}
		hash := bitOf(name)
		if hashes&hash != 0 {
			for _, other := range r.names[first:] {
				if string(r.text[other.from:other.to]) == string(name) {
					return false
				}
			}
		}
		hashes |= hash
		r.names = append(r.names, span{r.at - 2 - len(name), r.at - 2})
		if !member(name, hash) {
			return false
		}
		if r.is('}') {
			r.names = r.names[:first]
			return r.leave()
		}
		if !r.is(',') {
			return false
		}
	}
	return false
}

func (r *reader) leave() bool {
	r.depth--
	return true
}

// bitOf returns one of 64 bits, by the hash of a text.
func bitOf[T string | []byte](text T) uint64 { return 1 << (hashOf(text) % 64) }

// hashOf returns a hash that is good enough for the names and the short texts of records.
func hashOf[T string | []byte](text T) int {
	if len(text) == 0 {
		return 0
	}
	return 7*len(text) + 31*int(text[0]) + 3*int(text[len(text)/2]) + int(text[len(text)-1])
}

// array reads an array, and calls element to read each of its values.
func (r *reader) array(element func() bool) bool {
	if r.depth == maxDepth || !r.is('[') {
		return false
	}
	r.depth++
	if r.is(']') {
		return r.leave()
	}
	for {
		if !element() {
			return false
		}
		if r.is(']') {
			return r.leave()
		}
		if !r.is(',') {
			return false
		}
	}
}

// skip reads any value.
func (r *reader) skip() bool {
	if r.at == len(r.text) {
		return false
	}
	switch r.text[r.at] {
	case '"':
		_, _, ok := r.stringText()
		return ok
	case '{':
		return r.object(func([]byte, uint64) bool { return r.skip() })
	case '[':
		return r.array(r.skip)
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	default:
		_, _, ok := r.number()
		return ok
	}
}

// stringText reads a string. It returns the text between the quotes, and whether that has
// escapes.
func (r *reader) stringText() (text []byte, escaped, ok bool) {
	if !r.is('"') {
		return nil, false, false
	}
	from := r.at
	for {
		r.at += r.plain()
		if r.is('"') {
			return r.text[from : r.at-1], escaped, true
		}
		if escaped = true; !r.is('\\') || !r.escape() {
			return nil, false, false
		}
	}
}

// escape reads an escape sequence after its backslash.
func (r *reader) escape() bool {
	if !r.is('u') {
		r.at++
		return r.at <= len(r.text) && strings.IndexByte(`"\/bfnrt`, r.text[r.at-1]) >= 0
	}
	if len(r.text)-r.at < 4 {
		return false
	}
	code := r.text[r.at : r.at+4]
	for _, c := range code {
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return false
		}
	}
	r.at += 4
	return code[0]|0x20 != 'd' || code[1] < '8'
}

// number reads a number. whole reports whether it is an integer of at most 18 digits, which
// value then is.
func (r *reader) number() (value int64, whole, ok bool) {
	negative := r.is('-')
	digits := r.digits()
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return 0, false, false
	}
	if r.is('.') {
		return 0, false, len(r.digits()) > 0 && r.endsNumber()
	}
	for _, c := range digits {
		value = 10*value + int64(c-'0')
	}
	if negative {
		value = -value
	}
	return value, len(digits) <= 18 && !(negative && value == 0), r.endsNumber()
}

func (r *reader) digits() []byte {
	from := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.text[from:r.at]
}

// endsNumber reports whether a number has no exponent.
func (r *reader) endsNumber() bool {
	return r.at == len(r.text) || r.text[r.at]|0x20 != 'e'
}

// intern returns a text as a string, without an allocation if it was read recently.
func (r *reader) intern(text []byte) string {
	if len(text) > maxRecent {
		return string(text)
	}
	recent := &r.recent[hashOf(text)%len(r.recent)]
	if *recent != string(text) {
		*recent = string(text)
	}
	return *recent
}
