package document

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// At returns the report's text at a JSON Pointer (RFC 6901), and whether the
// pointer is well-formed and the value exists. Do not modify the text.
func (d *Document) At(pointer string) (at jsontext.Value, ok bool) {
	tokens, ok := Tokens(pointer)
	if !ok || len(tokens) > d.depth { // A guest's pointer may have millions of tokens.
		return nil, false
	}
	root := &pattern{}
	root.add(tokens, false)
	d.walk(context.Background(), root, func(_ string, value jsontext.Value) bool {
		at = value
		return false
	})
	return at, at != nil
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
	d.walk(ctx, root, func(ref string, _ jsontext.Value) bool {
		found[ref] = true
		return !detected()
	})
	return detected()
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

// The wildcards of an item pattern.
const (
	// anyElement stands for every element of an array.
	anyElement = "*"
	// anyMember stands for every member of an object.
	anyMember = "{*}"
)

// Items yields the pointer and the text of every value that matches a pattern, in the
// order of the report. A value that matches several may come more than once. A
// pattern is a JSON Pointer in which the token "*" stands for every element of an
// array, and "{*}" for every member of an object. An ill-formed pattern matches
// nothing; check it with Tokens first.
//
// It walks over the report once; a value that patterns reach both by name or number
// and by a wildcard is walked over once for each. It ends early if ctx is done.
func (d *Document) Items(ctx context.Context, patterns []string) func(yield func(ref string, raw jsontext.Value) bool) {
	root := &pattern{}
	for _, p := range patterns {
		if tokens, ok := Tokens(p); ok {
			root.add(tokens, true)
		}
	}
	return func(yield func(string, jsontext.Value) bool) {
		d.walk(ctx, root, yield)
	}
}

// pattern is a node of a prefix tree of item patterns.
type pattern struct {
	leaf      bool // A pattern ends here.
	any       *pattern
	anyMember *pattern
	named     map[string]*pattern
}

// add adds a pattern. Unless wild is set, a wildcard is an ordinary name.
func (p *pattern) add(tokens []string, wild bool) {
	if len(tokens) == 0 {
		p.leaf = true
		return
	}
	if wild && (tokens[0] == anyElement || tokens[0] == anyMember) {
		next := &p.any
		if tokens[0] == anyMember {
			next = &p.anyMember
		}
		if *next == nil {
			*next = &pattern{}
		}
		(*next).add(tokens[1:], wild)
		return
	}
	if p.named == nil {
		p.named = make(map[string]*pattern)
	}
	if p.named[tokens[0]] == nil {
		p.named[tokens[0]] = &pattern{}
	}
	p.named[tokens[0]].add(tokens[1:], wild)
}

// find returns the node of the member with a quoted key. It unescapes the key at most
// once, into scratch.
func (p *pattern) find(key, scratch []byte) (next *pattern, unescaped []byte) {
	plain := key[1 : len(key)-1]
	if bytes.IndexByte(plain, '\\') < 0 {
		return p.named[string(plain)], scratch
	}
	scratch, err := jsontext.AppendUnquote(scratch[:0], key)
	if err != nil {
		return nil, scratch
	}
	return p.named[string(scratch)], scratch
}

// walk is one walk over a document, as deep as its patterns are long.
type walk struct {
	ctx     context.Context
	steps   int
	data    []byte
	ref     []byte // the pointer to the current value
	scratch []byte
	yield   func(string, jsontext.Value) bool
	done    bool // The caller stopped, or the context is done.
}

// walk calls yield for every value that a pattern of root matches, until it returns
// false or ctx is done.
func (d *Document) walk(ctx context.Context, root *pattern, yield func(string, jsontext.Value) bool) {
	w := walk{ctx: ctx, data: d.data, yield: yield}
	w.value(root, value(d.data, 0))
}

// step checks the context once in a while.
func (w *walk) step() {
	if w.steps++; w.steps%4096 == 0 && w.ctx.Err() != nil {
		w.done = true
	}
}

// value walks over the value at i and returns its end.
func (w *walk) value(p *pattern, i int) int {
	if i >= len(w.data) {
		return i
	}
	end := 0
	switch {
	case w.data[i] == '[' && (p.any != nil || p.named != nil):
		end = w.array(p, i)
	case w.data[i] == '{' && (p.anyMember != nil || p.named != nil):
		end = w.object(p, i)
	default:
		end = valueEnd(w.data, i)
	}
	if p.leaf && !w.done {
		w.done = !w.yield(string(w.ref), w.data[i:end])
	}
	return end
}

func (w *walk) array(p *pattern, i int) int {
	outside := len(w.ref)
	i++
	for n := 0; ; n++ {
		w.step()
		if i = value(w.data, i); i >= len(w.data) || w.data[i] == ']' || w.done {
			return i + 1
		}
		w.ref = strconv.AppendInt(append(w.ref, '/'), int64(n), 10)
		end := 0
		if next := p.named[string(w.ref[outside+1:])]; next != nil {
			end = w.value(next, i)
		}
		if p.any != nil {
			end = w.value(p.any, i)
		}
		if end == 0 {
			end = valueEnd(w.data, i)
		}
		i = end
		w.ref = w.ref[:outside]
	}
}

func (w *walk) object(p *pattern, i int) int {
	outside := len(w.ref)
	i++
	for {
		w.step()
		if i = value(w.data, i); i >= len(w.data) || w.data[i] == '}' || w.done {
			return i + 1
		}
		end := stringEnd(w.data, i)
		key := w.data[i:end]
		i = value(w.data, end)
		next, unescaped := p.find(key, w.scratch)
		if w.scratch = unescaped; next == nil && p.anyMember == nil {
			i = valueEnd(w.data, i)
			continue
		}
		name, _ := jsontext.AppendUnquote(nil, key)
		w.ref = append(append(w.ref, '/'), escape(string(name))...)
		end = i
		if next != nil {
			end = w.value(next, i)
		}
		if p.anyMember != nil {
			end = w.value(p.anyMember, i)
		}
		i = end
		w.ref = w.ref[:outside]
	}
}

// The functions below scan checked JSON. They return offsets into data, and neither
// copy nor recurse. On invalid JSON they end and stay inside data, but their results
// are meaningless.

// value returns the offset of the next value at or after i.
func value(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// stringEnd returns the offset after the closing quote of the string at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// valueEnd returns the offset after the value at i.
func valueEnd(data []byte, i int) int {
	if i >= len(data) {
		return len(data)
	}
	switch data[i] {
	case '"':
		return stringEnd(data, i)
	case '[', '{':
		end, _ := containerEnd(data, i, math.MaxInt)
		return end
	default:
		for i < len(data) {
			switch data[i] {
			case ' ', '\t', '\r', '\n', ',', ']', '}':
				return i
			}
			i++
		}
		return i
	}
}

// containerEnd returns the offset after the array or object at i, and its nesting. If
// that exceeds limit, it returns the offset of the bracket that does.
func containerEnd(data []byte, i, limit int) (end, deepest int) {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '[', '{':
			depth++
			if deepest = max(deepest, depth); depth > limit {
				return i, depth
			}
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, deepest
			}
		}
	}
	return len(data), deepest
}

// skipBlanks returns the offset of the first byte at or after i that is not white
// space.
func skipBlanks(data []byte, i int) int {
	return len(data) - len(bytes.TrimLeft(data[i:], blanks))
}
