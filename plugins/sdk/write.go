package sdk

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func appendDescription(b []byte, d Description) []byte {
	b = append(b, '{')
	b = appendMember(b, "name", d.Name)
	b = appendMember(b, "version", d.Version)
	b = appendMember(b, "critic", d.Critic)
	b = appendTexts(appendKey(b, "formats"), d.Formats)
	b = appendTexts(appendKey(b, "detect"), d.Detect)
	if len(d.DetectAny) > 0 {
		b = appendTexts(appendKey(b, "detect_any"), d.DetectAny)
	}
	b = appendTexts(appendKey(b, "items"), d.Items)
	return append(b, '}')
}

func appendAnswer(b []byte, a Answer) []byte {
	b = append(b, '{')
	b = appendMember(b, "critic", a.Critic)
	if a.TaskID != nil {
		b = appendMember(b, "task_id", *a.TaskID)
	}
	if a.Round != nil {
		b = strconv.AppendInt(appendKey(b, "round"), int64(*a.Round), 10)
	}
	b = appendList(appendKey(b, "findings"), a.Findings, appendFinding)
	b = appendList(appendKey(b, "skipped"), a.Skipped, func(b []byte, s Skipped) []byte {
		return append(appendMember(appendMember(append(b, '{'), "ref", s.Ref), "reason", s.Reason), '}')
	})
	if len(a.Unmapped) > 0 {
		b = appendList(appendKey(b, "unmapped"), a.Unmapped, func(b []byte, u Unmapped) []byte {
			return append(appendMember(appendMember(append(b, '{'), "rule", u.Rule), "category", u.Category), '}')
		})
	}
	return append(b, '}')
}

func appendFinding(b []byte, f Finding) []byte {
	b = append(b, '{')
	if f.Critic != "" {
		b = appendMember(b, "critic", f.Critic)
	}
	b = appendMember(b, "category", f.Category)
	if f.Severity != "" {
		b = appendMember(b, "severity", string(f.Severity))
	}
	b = appendKey(b, "file")
	if f.File == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(b, *f.File)
	}
	b = appendKey(b, "line")
	if f.Line == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(*f.Line), 10)
	}
	b = appendMember(b, "remediation", f.Remediation)
	b = appendMember(b, "ref", f.Ref)
	return append(b, '}')
}

func appendError(b []byte, e *Error) []byte {
	b = append(b, `{"error":{`...)
	b = appendMember(b, "code", e.Code)
	b = appendMember(b, "message", e.Message)
	if e.Hint != "" {
		b = appendMember(b, "hint", e.Hint)
	}
	if e.Ref != nil {
		b = appendMember(b, "ref", *e.Ref)
	}
	if len(e.Details) > 0 {
		b = appendAny(appendKey(b, "details"), reflect.ValueOf(e.Details))
	}
	return append(b, "}}"...)
}

// appendAny writes an error's details.
func appendAny(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "null"...)
	case reflect.Pointer, reflect.Interface:
		return appendAny(b, v.Elem())
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
			b = appendAny(separate(b), v.Index(i))
		}
		return append(b, ']')
	case reflect.Map:
		names := make([]string, 0, v.Len())
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
		b = append(b, '{')
		for _, name := range names {
			b = appendAny(appendKey(b, name), v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())))
		}
		return append(b, '}')
	}
	panic("sdk: an error's details cannot hold a " + v.Type().String())
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for _, t := range list {
		b = one(separate(b), t)
	}
	return append(b, ']')
}

func appendTexts(b []byte, texts []string) []byte {
	return appendList(b, texts, appendText)
}

func appendMember(b []byte, name, text string) []byte {
	return appendText(appendKey(b, name), text)
}

func appendKey(b []byte, name string) []byte {
	return append(appendText(separate(b), name), ':')
}

// separate writes a comma, unless the next value is the first in its brackets.
func separate(b []byte) []byte {
	if last := b[len(b)-1]; last == '{' || last == '[' {
		return b
	}
	return append(b, ',')
}

// appendText writes a JSON string. Bytes that are not UTF-8 become U+FFFD, since the
// host accepts only UTF-8.
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
