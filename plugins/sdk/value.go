package sdk

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is the text of one JSON value, valid and without white space around it:
// the host has checked the report. A nil Value is a missing one, and every method
// accepts it.
type Value []byte

// Bytes returns the text. Do not modify it.
func (v Value) Bytes() []byte { return v }

// MarshalJSON implements json.Marshaler. A missing value becomes null.
func (v Value) MarshalJSON() ([]byte, error) { return json.RawMessage(v).MarshalJSON() }

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

// Get returns the member called name, or nil if there is none or v is not an
// object.
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

// Text returns the content of a string, and whether v is one.
func (v Value) Text() (string, bool) {
	var text string
	return text, v.Kind() == "string" && json.Unmarshal(v, &text) == nil
}

// Int returns a whole number in plain digits, and whether v is one. It refuses 1.0
// and 1e3: as a line or a round they are a sign that something went wrong.
func (v Value) Int() (int, bool) {
	n, err := strconv.Atoi(string(v))
	return n, err == nil && !bytes.HasPrefix(v, []byte("-0"))
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

// excerptSize is how much of a value an error shows, in bytes.
const excerptSize = 200

// Members iterates over an object's members in order. It yields nothing if v is
// not an object.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != "object" {
			return
		}
		d := v.open()
		for d.More() {
			key, _ := d.Token()
			name, _ := key.(string)
			if !yield(name, next(d)) {
				return
			}
		}
	}
}

// Elements iterates over an array's elements in order. It yields nothing if v is
// not an array.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != "array" {
			return
		}
		d := v.open()
		for i := 0; d.More(); i++ {
			if !yield(i, next(d)) {
				return
			}
		}
	}
}

// open returns a decoder that has read the opening bracket.
func (v Value) open() *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(v))
	_, _ = d.Token()
	return d
}

// next reads one value. It cannot fail, because the text is valid.
func next(d *json.Decoder) Value {
	var value json.RawMessage
	_ = d.Decode(&value)
	return Value(value)
}
