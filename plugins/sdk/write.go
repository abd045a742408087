package sdk

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendJSON appends a value as JSON. Members of a struct are named by json tags, and a nil
// slice in a struct is an empty array.
func appendJSON(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "null"...)
	case reflect.Pointer, reflect.Interface:
		return appendJSON(b, v.Elem())
	case reflect.String:
		return appendText(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, "null"...)
		}
		if v.Type() == reflect.TypeFor[Value]() {
			return append(b, v.Bytes()...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			b = appendJSON(separate(b), v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		b = append(b, '{')
		for _, f := range fieldsOf(v.Type()) {
			field := v.Field(f.index)
			isList := field.Kind() == reflect.Slice
			switch {
			case f.omitEmpty && (field.IsZero() || isList && field.Len() == 0):
			case isList && field.IsNil():
				b = append(appendKey(b, f.name), "[]"...)
			default:
				b = appendJSON(appendKey(b, f.name), field)
			}
		}
		return append(b, '}')
	case reflect.Map:
		names := make([]string, 0, v.Len())
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
		b = append(b, '{')
		for _, name := range names {
			b = appendJSON(appendKey(b, name), v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())))
		}
		return append(b, '}')
	}
	panic("sdk: an error's details cannot hold a " + v.Type().String())
}

func appendKey(b []byte, name string) []byte {
	return append(appendText(separate(b), name), ':')
}

// separate appends a comma, unless the next value is the first in its brackets.
func separate(b []byte) []byte {
	if last := b[len(b)-1]; last == '{' || last == '[' {
		return b
	}
	return append(b, ',')
}

// appendText appends a JSON string. Bytes that are not UTF-8 become U+FFFD, because the host
// accepts only UTF-8.
func appendText(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	plain := 0 // The start of the text that is not yet appended.
	for i, r := range text {
		if r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError {
			continue
		}
		b = append(b, text[plain:i]...)
		plain = i + 1
		switch {
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r != utf8.RuneError:
			b = append(b, '\\', byte(r))
		default:
			b = append(b, "\ufffd"...)
			if strings.HasPrefix(text[i:], "\ufffd") {
				plain = i + len("\ufffd")
			}
		}
	}
	return append(append(b, text[plain:]...), '"')
}
