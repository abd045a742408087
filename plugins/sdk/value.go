package sdk

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is the text of one JSON value, without white space around it. It is valid because
// the host has checked the report. Do not modify it. A nil Value is a missing value, which
// every method accepts.
type Value []byte

// Kind returns the value's JSON type: "object", "array", "string", "number",
// "boolean", "null", or "missing".
func (v Value) Kind() string {
	if len(v) == 0 {
		return "missing"
	}
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// Get returns the member called name. It returns nil if v is not an object or does not have
// the member.
func (v Value) Get(name string) Value {
	for key, value := range v.Members() {
		if key == name {
			return value
		}
	}
	return nil
}

// At returns the value at a JSON Pointer, or nil.
func (v Value) At(pointer string) Value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		v = v.child(unescapes.Replace(token))
	}
	return v
}

func (v Value) child(token string) Value {
	if v.Kind() == "object" {
		return v.Get(token)
	}
	for i, value := range v.Elements() {
		if strconv.Itoa(i) == token {
			return value
		}
	}
	return nil
}

// Text returns the content of a string, and whether v is a string.
func (v Value) Text() (string, bool) {
	if v.Kind() != "string" {
		return "", false
	}
	return unquote(v), true
}

// Int returns a whole number in plain digits, and whether v is one. It refuses 1.0 and 1e3:
// as a line or a round they are a sign of an error.
func (v Value) Int() (int, bool) {
	if len(v) > 1 && v[0] == '-' && v[1] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(string(v))
	return n, err == nil
}

// Excerpt returns the value's text for a message, cut if it is long.
func (v Value) Excerpt() string {
	if v == nil {
		return "missing"
	}
	if len(v) <= excerptSize {
		return string(v)
	}
	end := excerptSize
	for !utf8.RuneStart(v[end]) {
		end--
	}
	return string(v[:end]) + "..."
}

// excerptSize limits the part of a value that an error shows, in bytes.
const excerptSize = 200

// Members iterates over an object's members in order. Other values do not have members.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != "object" {
			return
		}
		s := scanner{text: v, at: 1}
		for s.more('}') {
			key := s.value()
			s.colon()
			if !yield(unquote(key), s.value()) {
				return
			}
		}
	}
}

// Elements iterates over an array's elements in order. Other values do not have elements.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != "array" {
			return
		}
		s := scanner{text: v, at: 1}
		for i := 0; s.more(']'); i++ {
			if !yield(i, s.value()) {
				return
			}
		}
	}
}

// document returns the value in a text.
func document(text []byte) Value {
	s := scanner{text: text}
	s.blank()
	return s.value()
}

// scanner scans valid JSON. Its position is at.
type scanner struct {
	text []byte
	at   int
}

// blank skips white space.
func (s *scanner) blank() {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		s.at++
	}
}

// more moves to the next element or member and reports whether there is one. At the end it
// moves past the closing bracket.
func (s *scanner) more(closing byte) bool {
	s.blank()
	if s.text[s.at] == ',' {
		s.at++
		s.blank()
	}
	if s.text[s.at] == closing {
		s.at++
		return false
	}
	return true
}

// colon moves from a key to its value.
func (s *scanner) colon() {
	s.blank()
	s.at++
	s.blank()
}

// value returns the value at the position and moves past it.
func (s *scanner) value() Value {
	start := s.at
	switch s.text[s.at] {
	case '"':
		s.skipString()
	case '{', '[':
		s.skipContainer()
	default:
		s.skipScalar()
	}
	return s.text[start:s.at:s.at]
}

func (s *scanner) skipString() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

func (s *scanner) skipContainer() {
	for depth := 0; ; s.at++ {
		switch s.text[s.at] {
		case '"':
			s.skipString()
			s.at--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.at++
				return
			}
		}
	}
}

func (s *scanner) skipScalar() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// unquote returns the content of a JSON string.
func unquote(quoted []byte) string {
	inside := quoted[1 : len(quoted)-1]
	at := 0
	for at < len(inside) && inside[at] != '\\' {
		at++
	}
	if at == len(inside) {
		return string(inside)
	}
	text := append(make([]byte, 0, len(inside)), inside[:at]...)
	for at < len(inside) {
		c := inside[at]
		if c != '\\' {
			text = append(text, c)
			at++
			continue
		}
		c = inside[at+1]
		at += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(inside[at:])
			at += 4
			if utf16.IsSurrogate(r) && at+6 <= len(inside) {
				// The host refuses lone surrogates, so this is a pair.
				r = utf16.DecodeRune(r, hex4(inside[at+2:]))
				at += 6
			}
			text = utf8.AppendRune(text, r)
			continue
		}
		text = append(text, c)
	}
	return string(text)
}

func hex4(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16)
	return rune(n)
}
