package sdk

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Decode reads the value into what into points to. It is stricter than
// encoding/json, because a report that is misread as clean commits a task:
//
//   - A member's name must be exactly the field's json tag, or the field's name.
//   - A member that is missing or null is an error, unless the field is a pointer
//     or its tag says omitempty. Members without a field are ignored.
//   - A whole number is written in plain digits.
//
// Fields may be bool, string, a number, a Value, or a struct, slice, pointer or
// map by string of those.
//
// # Errors
//
// An *Error with the code "<plugin>-invalid" and the Ref of the wrong value.
func (v Value) Decode(into any) error { return v.DecodeAt("", into) }

// DecodeAt is Decode for the part of the report that lies at ref.
func (v Value) DecodeAt(ref string, into any) error {
	if err := v.decode(ref, reflect.ValueOf(into).Elem()); err != nil {
		return err
	}
	return nil
}

func (v Value) decode(ref string, into reflect.Value) *Error {
	t := into.Type()
	kind := v.Kind()
	switch {
	case v == nil:
		return refuse(ref, t, v)
	case t == reflect.TypeFor[Value]():
		into.SetBytes(v)
	case t.Kind() == reflect.Pointer:
		if kind != "null" {
			into.Set(reflect.New(t.Elem()))
			return v.decode(ref, into.Elem())
		}
	case t.Kind() == reflect.Struct && kind == "object":
		return v.decodeStruct(ref, into)
	case t.Kind() == reflect.Map && kind == "object":
		into.Set(reflect.MakeMap(t))
		for key, value := range v.Members() {
			element := reflect.New(t.Elem()).Elem()
			if err := value.decode(ref+Pointer(key), element); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), element)
		}
	case t.Kind() == reflect.Slice && kind == "array":
		into.Set(reflect.MakeSlice(t, 0, 0))
		for i, value := range v.Elements() {
			into.Set(reflect.Append(into, reflect.Zero(t.Elem())))
			if err := value.decode(ref+Pointer(i), into.Index(i)); err != nil {
				return err
			}
		}
	case kind == "object" || kind == "array" || kind == "null" || string(v) == "-0",
		json.Unmarshal(v, into.Addr().Interface()) != nil:
		return refuse(ref, t, v)
	}
	return nil
}

func (v Value) decodeStruct(ref string, into reflect.Value) *Error {
	members := map[string]Value{}
	for name, value := range v.Members() {
		members[name] = value
	}
	into.SetZero()
	for i := range into.NumField() {
		f := into.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		value, optional := members[name], options == "omitempty" || f.Type.Kind() == reflect.Pointer
		if optional && (value == nil || value.Kind() == "null") {
			continue
		}
		if value == nil {
			return newError("", ref, ref+Pointer(name)+" must be "+wanted(f.Type)+", but it is missing", nil)
		}
		if err := value.decode(ref+Pointer(name), into.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// refuse says that the value at ref cannot become a t.
func refuse(ref string, t reflect.Type, found Value) *Error {
	name := ref
	if name == "" {
		name = "the report"
	}
	return newError("", ref, name+" must be "+wanted(t)+", but it is "+found.Excerpt(), found)
}

// wanted describes the values that a t accepts, for a message.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem()) + " or null"
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
