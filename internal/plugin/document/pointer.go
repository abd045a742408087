package document

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// At returns the report's text at a JSON Pointer (RFC 6901), and whether the
// pointer is well-formed and the value exists. Do not modify the text.
func (d *Document) At(pointer string) (jsontext.Value, bool) {
	tokens, ok := Tokens(pointer)
	if !ok {
		return nil, false
	}
	at := value(d.data, 0)
	for _, token := range tokens {
		if at, ok = child(d.data, at, token); !ok {
			return nil, false
		}
	}
	return d.data[at:valueEnd(d.data, at)], true
}

// Detects reports whether the values at all pointers of all exist, and at least one
// of some, if there are any. A pointer starts at the document's root or, if the
// document is an array, at its first element: a report may be a list of reports. It
// returns false without any pointer, and if ctx is done.
//
// It walks over the report at most once, regardless of the number of pointers.
func (d *Document) Detects(ctx context.Context, all, some []string) bool {
	if len(all)+len(some) == 0 {
		return false
	}
	const first = "/0" // A pointer to an array's first element.
	isArray := d.data[value(d.data, 0)] == '['
	root := &pattern{}
	for _, p := range slices.Concat(all, some) {
		if tokens, ok := Tokens(p); ok {
			root.add(tokens, false)
			if isArray {
				root.add(append([]string{first[1:]}, tokens...), false)
			}
		}
	}
	found := make(map[string]bool)
	leads := func(p string) bool { return found[p] || isArray && found[first+p] }
	lacks := func(p string) bool { return !leads(p) }
	detected := func() bool {
		return !slices.ContainsFunc(all, lacks) && (len(some) == 0 || slices.ContainsFunc(some, leads))
	}
	w := walk{ctx: ctx, data: d.data, yield: func(ref string, _ jsontext.Value) bool {
		found[ref] = true
		return !detected()
	}}
	w.value(root, value(d.data, 0))
	return detected()
}

// child returns the offset of the member or element named token in the container at
// i.
func child(data []byte, i int, token string) (int, bool) {
	switch {
	case i >= len(data):
	case data[i] == '{':
		for key, s := range members(data, i) {
			if is(key, token) {
				return s.start, true
			}
		}
	case data[i] == '[':
		want, ok := index(token)
		if !ok {
			return 0, false
		}
		for n, s := range elements(data, i) {
			if n == want {
				return s.start, true
			}
		}
	}
	return 0, false
}

// is reports whether a quoted key stands for name.
func is(key []byte, name string) bool {
	if plain := key[1 : len(key)-1]; string(plain) == name {
		return !strings.Contains(name, `\`)
	} else if len(plain) <= len(name) {
		return false // An escape is longer than its character.
	}
	text, err := jsontext.AppendUnquote(nil, key)
	return err == nil && string(text) == name
}

// Tokens splits a JSON Pointer into its unescaped reference tokens, and reports
// whether it is well-formed.
func Tokens(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens := strings.Split(pointer[1:], "/")
	for n, t := range tokens {
		if !strings.Contains(t, "~") {
			continue
		}
		for rest := t; ; {
			_, after, found := strings.Cut(rest, "~")
			if !found {
				break
			}
			if after == "" || after[0] != '0' && after[0] != '1' {
				return nil, false
			}
			rest = after[1:]
		}
		tokens[n] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, true
}

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// index parses an array index of RFC 6901: no sign, no leading zero.
func index(token string) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}
