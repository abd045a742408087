package adapter

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// path leads to places in a JSON value: names joined by dots. A name may be followed by [*]
// for all elements of an array or values of an object, or by [name=text] for the elements with
// that member.
type path []step

type step struct {
	name string
	each bool
	// key and text select elements if key is not "".
	key, text string
}

var stepForm = lazy.Regexp(`^([A-Za-z0-9_-]+)(\[(?:\*|([A-Za-z0-9_-]+)=([^\[\]]+))\])?$`)

type paths []path

func (p *path) parse(text string) error {
	for part := range strings.SplitSeq(text, ".") {
		m := stepForm().FindStringSubmatch(part)
		if m == nil {
			return fmt.Errorf("%q is not a path: write names joined by dots, each with [*] or [name=text] at its end or without", text)
		}
		*p = append(*p, step{name: m[1], each: m[2] != "", key: m[3], text: m[4]})
	}
	return nil
}

// event is an object of the output, split into its members: most rules begin with a member,
// and parsing a large object for each rule would be slow.
type event []named

type named struct {
	name  string
	value jsontext.Value
}

func eventOf(v jsontext.Value) event {
	var e event
	for name, value := range elements(v) {
		e = append(e, named{name, value})
	}
	return e
}

func (e event) member(name string) jsontext.Value {
	for _, m := range e {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// values returns the values at the paths in order. They share the memory of the event.
func (all paths) values(e event) (found []jsontext.Value) {
	for _, p := range all {
		found = append(found, p.values(e)...)
	}
	return found
}

func (p path) values(e event) []jsontext.Value {
	found := p[0].follow(e.member(p[0].name), nil)
	for _, s := range p[1:] {
		var next []jsontext.Value
		for _, v := range found {
			next = s.follow(member(v, s.name), next)
		}
		found = next
	}
	return found
}

func (s step) follow(at jsontext.Value, found []jsontext.Value) []jsontext.Value {
	if at != nil && !s.each {
		return append(found, at)
	}
	for _, element := range elements(at) {
		if s.key != "" {
			if text, ok := scalar(member(element, s.key)); !ok || text != s.text {
				continue
			}
		}
		found = append(found, element)
	}
	return found
}

func member(v jsontext.Value, name string) jsontext.Value {
	if v.Kind() == '{' {
		for n, value := range elements(v) {
			if n == name {
				return value
			}
		}
	}
	return nil
}

// elements yields the members of an object, or the elements of an array with the name "". The
// value must be valid, except for duplicate names.
func elements(v jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		kind := v.Kind()
		if kind != '{' && kind != '[' {
			return
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		_, _ = d.ReadToken()
		for next := d.PeekKind(); next != '}' && next != ']' && next != 0; next = d.PeekKind() {
			name := ""
			if kind == '{' {
				token, _ := d.ReadToken()
				name = token.String()
			}
			value, _ := d.ReadValue()
			// The decoder may reuse its memory, so slice v.
			end := int(d.InputOffset())
			if !yield(name, v[end-len(value):end:end]) {
				return
			}
		}
	}
}

// scalar returns the text of a string, number or boolean.
func scalar(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		return text(v)
	case '0', 't', 'f':
		return string(v), true
	default:
		return "", false
	}
}

// text returns the text of a string. Invalid UTF-8 in it becomes U+FFFD.
func text(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	// The only error is invalid UTF-8, which is replaced.
	unquoted, _ := jsontext.AppendUnquote(nil, v)
	return string(unquoted), true
}
