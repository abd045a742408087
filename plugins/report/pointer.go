package report

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// anyElement stands in an item pattern for every element of an array.
const anyElement = "*"

// At returns the report's text at a JSON Pointer (RFC 6901), and whether the
// pointer is well-formed and leads to a value. The text is shared with the
// document: do not modify it.
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

// Detects reports whether every pointer leads to a value, from the document's
// root or, where the document is an array, from its first element: a format
// whose reports may come as a list names the fields of one report.
func (d *Document) Detects(pointers []string) bool {
	for _, p := range pointers {
		if _, ok := d.At(p); ok {
			continue
		}
		if _, ok := d.At("/0" + p); !ok || d.data[value(d.data, 0)] != '[' {
			return false
		}
	}
	return len(pointers) > 0
}

// Items yields the pointer and the text of every value that a pattern matches,
// in the order of the report. A pattern is a JSON Pointer in which the token
// "*" stands for every element of an array. An ill-formed pattern matches
// nothing; check it with Tokens first.
func (d *Document) Items(pattern string) func(yield func(ref string, raw jsontext.Value) bool) {
	return func(yield func(string, jsontext.Value) bool) {
		tokens, ok := Tokens(pattern)
		if ok {
			d.match("", value(d.data, 0), tokens, yield)
		}
	}
}

// match yields what tokens match below the value at i, whose pointer is ref. It
// goes as deep as the pattern is long.
func (d *Document) match(ref string, i int, tokens []string, yield func(string, jsontext.Value) bool) bool {
	if len(tokens) == 0 {
		return yield(ref, d.data[i:valueEnd(d.data, i)])
	}
	if tokens[0] == anyElement {
		for n, s := range elements(d.data, i) {
			if !d.match(ref+"/"+strconv.Itoa(n), s.start, tokens[1:], yield) {
				return false
			}
		}
		return true
	}
	at, ok := child(d.data, i, tokens[0])
	return !ok || d.match(ref+"/"+escape(tokens[0]), at, tokens[1:], yield)
}

// child returns where the member or element that token names starts in the
// container at i.
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

// is reports whether a quoted key reads as name.
func is(key []byte, name string) bool {
	if plain := key[1 : len(key)-1]; string(plain) == name {
		return !strings.Contains(name, `\`)
	} else if len(plain) <= len(name) {
		return false // An escape is longer than what it stands for.
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

// index reads an array index as RFC 6901 writes it: no sign, no leading zero.
func index(token string) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}
