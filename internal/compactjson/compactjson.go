// Package compactjson decodes JSON as this program writes it, several times faster than a
// general decoder: without white space, and with the members of objects mostly in the order
// of the fields. Some commands read millions of records.
package compactjson

import (
	"bytes"
	"encoding"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Valid reports whether a text is JSON without duplicate names.
func Valid(text []byte) bool {
	return read(text, (*reader).skip) || jsontext.Value(text).IsValid()
}

// Decode decodes a text into the zero value that v points to. If it returns true, *v is as
// after json.Unmarshal. It returns false if the text is not JSON, does not fit v, or is
// unusual: *v is then undefined, and the caller has to use json.Unmarshal.
func Decode(text []byte, v any) bool {
	to := reflect.ValueOf(v).Elem()
	return read(text, func(r *reader) bool { return decoderOf(to.Type())(r, to) })
}

// read reports whether value reads the whole text and the text is UTF-8.
func read(text []byte, value func(*reader) bool) bool {
	r := readers.Get().(*reader)
	r.text, r.at, r.depth, r.bytes, r.names = text, 0, 0, 0, r.names[:0]
	ok := value(r) && r.at == len(text) && r.isUTF8()
	r.text = nil
	readers.Put(r)
	return ok
}

// Unmarshal is json.Unmarshal into the zero value that v points to.
func Unmarshal(text []byte, v any) error {
	if Decode(text, v) {
		return nil
	}
	reflect.ValueOf(v).Elem().SetZero()
	return json.Unmarshal(text, v)
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// decoder decodes the next value into a zero value.
type decoder func(r *reader, to reflect.Value) bool

var decoders sync.Map // decoder by reflect.Type

func decoderOf(t reflect.Type) decoder {
	if d, ok := decoders.Load(t); ok {
		return d.(decoder)
	}
	d := decoder(decodeText)
	if t != reflect.TypeFor[jsontext.Value]() {
		d = nullable(newDecoder(t))
	}
	decoders.Store(t, d)
	return d
}

// lazyDecoderOf returns decoderOf(t), but calls it at the first use, because a type may
// contain itself.
func lazyDecoderOf(t reflect.Type) decoder {
	of := sync.OnceValue(func() decoder { return decoderOf(t) })
	return func(r *reader, to reflect.Value) bool { return of()(r, to) }
}

// decodeText copies the text of a value into a jsontext.Value.
func decodeText(r *reader, to reflect.Value) bool {
	from := r.at
	if !r.skip() {
		return false
	}
	to.SetBytes(bytes.Clone(r.text[from:r.at]))
	return true
}

// nullable returns a decoder that also decodes null, as the zero value.
func nullable(d decoder) decoder {
	return func(r *reader, to reflect.Value) bool {
		if r.at < len(r.text) && r.text[r.at] == 'n' {
			to.SetZero()
			return r.word("null")
		}
		return d(r, to)
	}
}

func newDecoder(t reflect.Type) decoder {
	if hasMethods(t) {
		return decodeGeneral
	}
	switch t.Kind() {
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return decodeInt
	case reflect.String:
		return decodeString
	case reflect.Pointer:
		elem := lazyDecoderOf(t.Elem())
		return func(r *reader, to reflect.Value) bool {
			to.Set(reflect.New(t.Elem()))
			return elem(r, to.Elem())
		}
	case reflect.Interface:
		return decodeInterface
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return sliceDecoder(t, lazyDecoderOf(t.Elem()))
		}
	case reflect.Struct:
		if fields, ok := fieldsOf(t, nil); ok {
			return structDecoder(fields)
		}
	}
	return decodeGeneral
}

// hasMethods reports whether a type may decode itself.
func hasMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// decodeGeneral leaves a value to json.Unmarshal.
func decodeGeneral(r *reader, to reflect.Value) bool {
	from := r.at
	return r.skip() && json.Unmarshal(r.text[from:r.at], to.Addr().Interface()) == nil
}

func decodeBool(r *reader, to reflect.Value) bool {
	value := r.word("true")
	to.SetBool(value)
	return value || r.word("false")
}

func decodeInt(r *reader, to reflect.Value) bool {
	value, whole, ok := r.number()
	if !ok || !whole || to.OverflowInt(value) {
		return false
	}
	to.SetInt(value)
	return true
}

func decodeString(r *reader, to reflect.Value) bool {
	from := r.at
	text, escaped, ok := r.stringText()
	if escaped {
		return ok && json.Unmarshal(r.text[from:r.at], to.Addr().Interface()) == nil
	}
	to.SetString(r.intern(text))
	return ok
}

// decodeInterface decodes into the value that an interface points to.
func decodeInterface(r *reader, to reflect.Value) bool {
	if to.IsNil() || to.Elem().Kind() != reflect.Pointer || to.Elem().IsNil() {
		return decodeGeneral(r, to)
	}
	return decoderOf(to.Elem().Type().Elem())(r, to.Elem().Elem())
}

func sliceDecoder(t reflect.Type, elem decoder) decoder {
	return func(r *reader, to reflect.Value) bool {
		if r.word("[]") {
			to.Set(reflect.MakeSlice(t, 0, 0))
			return true
		}
		return r.array(func() bool {
			n := to.Len()
			if n == to.Cap() {
				to.Grow(max(n, 4))
			}
			to.SetLen(n + 1)
			return elem(r, to.Index(n))
		})
	}
}

// field is a field of a struct, or of one embedded in it.
type field struct {
	name   string
	path   []int
	decode decoder
}

// fieldsOf lists the fields of a struct. It returns false if a tag has a form that this
// program does not use.
func fieldsOf(t reflect.Type, path []int) ([]field, bool) {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "" && options == "" && inner.Kind() == reflect.Struct && f.IsExported() && !hasMethods(inner):
			embedded, ok := fieldsOf(inner, at)
			if !ok {
				return nil, false
			}
			fields = append(fields, embedded...)
		case !f.IsExported() || name == "" || name == "-" || options != "" && options != "omitzero" && options != "omitempty":
			return nil, false
		default:
			fields = append(fields, field{name, at, decoderOf(f.Type)})
		}
	}
	return fields, true
}

func structDecoder(fields []field) decoder {
	byName, hashes := make(map[string]int, len(fields)), uint64(0)
	for i, f := range fields {
		if _, twice := byName[f.name]; twice {
			return decodeGeneral
		}
		byName[f.name] = i
		hashes |= bitOf(f.name)
	}
	return func(r *reader, to reflect.Value) bool {
		next := 0
		return r.object(func(name []byte, hash uint64) bool {
			i, known := next, next < len(fields) && fields[next].name == string(name)
			if !known && hashes&hash != 0 {
				i, known = byName[string(name)]
			}
			if !known {
				return r.skip()
			}
			next = i + 1
			return fields[i].decode(r, at(to, fields[i].path))
		})
	}
}

// at returns the field at a path. It allocates the embedded structs on the path.
func at(v reflect.Value, path []int) reflect.Value {
	v = v.Field(path[0])
	for _, i := range path[1:] {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
