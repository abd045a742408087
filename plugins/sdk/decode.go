package sdk

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Decode stores the value in the variable that into points to. It is stricter than
// encoding/json, because a report that is misread as clean commits a task:
//
//   - A member's name must be exactly the field's json tag, or the field's name.
//   - A member that is missing or null is an error, unless the field is a pointer
//     or its tag says omitempty. A Value can be null, but not missing. Members without a
//     field are ignored.
//   - A whole number is written in plain digits.
//
// A field may be a bool, a string, a number, a Value, a struct, a slice, a pointer, or a map
// with string keys.
//
// Use DecodeAt for a part of the report, so that errors say where it is.
//
// # Errors
//
// An *Error with the code "<plugin>-invalid" and the Ref of the wrong value.
func (v Value) Decode(into any) error { return v.DecodeAt("", into) }

// DecodeAt is Decode for a part of the report, of which ref is the place. It does not look
// for the part, which At or Elements has found:
//
//	err := report.At(ref).DecodeAt(ref, &into)
func (v Value) DecodeAt(ref string, into any) error {
	d := decoder{scanner: scanner{text: v}, ref: ref}
	target := reflect.ValueOf(into).Elem()
	if v == nil {
		return d.refuse(target.Type(), nil, "")
	}
	if err := d.decode(target); err != nil {
		return err
	}
	return nil
}

// decoder decodes one value in one pass.
type decoder struct {
	scanner
	ref  string   // of the value in the report
	path []string // from the value to the current one
}

// decode decodes the current value.
func (d *decoder) decode(into reflect.Value) *Error {
	if into.Type() == reflect.TypeFor[Value]() {
		into.SetBytes(d.value())
		return nil
	}
	switch into.Kind() {
	case reflect.Pointer:
		if d.text[d.at] == 'n' {
			d.skipScalar()
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return d.decode(into.Elem())
	case reflect.Struct:
		return d.object(into)
	case reflect.Map:
		return d.table(into)
	case reflect.Slice:
		return d.array(into)
	}
	value := d.value()
	if !setScalar(into, value) {
		return d.refuse(into.Type(), value, "")
	}
	return nil
}

func setScalar(into reflect.Value, value Value) bool {
	text := string(value)
	switch into.Kind() {
	case reflect.String:
		said, ok := value.Text()
		into.SetString(said)
		return ok
	case reflect.Bool:
		into.SetBool(text == "true")
		return value.Kind() == "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, into.Type().Bits())
		into.SetInt(n)
		return err == nil && text != "-0"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, into.Type().Bits())
		into.SetUint(n)
		return err == nil
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, into.Type().Bits())
		into.SetFloat(n)
		return err == nil
	}
	panic("sdk: cannot decode into " + into.Type().String())
}

func (d *decoder) object(into reflect.Value) *Error {
	if d.text[d.at] != '{' {
		return d.refuse(into.Type(), d.value(), "")
	}
	into.SetZero()
	fields := fieldsOf(into.Type())
	seen := make([]bool, len(fields))
	d.at++
	for d.more('}') {
		i := fields.index(d.value())
		d.colon()
		if i < 0 {
			d.value()
			continue
		}
		seen[i] = true
		f := fields[i]
		if f.optional && d.text[d.at] == 'n' {
			d.skipScalar()
			continue
		}
		d.path = append(d.path, f.name)
		if err := d.decode(into.Field(f.index)); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	for i, f := range fields {
		if !seen[i] && !f.optional {
			return d.refuse(into.Type().Field(f.index).Type, nil, Pointer(f.name))
		}
	}
	return nil
}

func (d *decoder) table(into reflect.Value) *Error {
	t := into.Type()
	if d.text[d.at] != '{' {
		return d.refuse(t, d.value(), "")
	}
	into.Set(reflect.MakeMap(t))
	d.at++
	for d.more('}') {
		key := unquote(d.value())
		d.colon()
		value := reflect.New(t.Elem()).Elem()
		d.path = append(d.path, key)
		if err := d.decode(value); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
		into.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), value)
	}
	return nil
}

func (d *decoder) array(into reflect.Value) *Error {
	t := into.Type()
	if d.text[d.at] != '[' {
		return d.refuse(t, d.value(), "")
	}
	d.at++
	into.Set(reflect.MakeSlice(t, 0, 0))
	for i := 0; d.more(']'); i++ {
		into.Grow(1)
		into.SetLen(i + 1)
		d.path = append(d.path, strconv.Itoa(i))
		if err := d.decode(into.Index(i)); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	return nil
}

// refuse returns the error that the current value is not a t, or that the member at a
// pointer is missing.
func (d *decoder) refuse(t reflect.Type, found Value, missing string) *Error {
	ref := d.ref
	for _, token := range d.path {
		ref += Pointer(token)
	}
	what := ref + missing
	if what == "" {
		what = "the report"
	}
	return newError("", ref, what+" must be "+describeType(t)+", but it is "+found.Excerpt(), found)
}

// describeType describes the values that a t accepts, for a message.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem()) + " or null"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t == reflect.TypeFor[Value]() {
			return "there"
		}
		return "an array"
	}
	return "a whole number in plain digits"
}

// field is a struct field with a JSON name.
type field struct {
	name      string
	index     int
	optional  bool
	omitEmpty bool
}

type fields []field

// index returns the index of the field that a key names, or -1.
func (all fields) index(key Value) int {
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(key))
	}
	for i := range all {
		if all[i].name == string(name) {
			return i
		}
	}
	return -1
}

// fieldCache maps each reflect.Type seen so far to its fields, because reading tags is
// slow. A guest has one goroutine, but tests of a normalizer may run in parallel.
var fieldCache sync.Map

func fieldsOf(t reflect.Type) fields {
	if all, ok := fieldCache.Load(t); ok {
		return all.(fields)
	}
	var all fields
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		omitEmpty := options == "omitempty"
		all = append(all, field{name, i, omitEmpty || f.Type.Kind() == reflect.Pointer, omitEmpty})
	}
	fieldCache.Store(t, all)
	return all
}
