package document

import (
	"bytes"
	"context"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The wildcards of an item pattern.
const (
	// anyElement stands for every element of an array.
	anyElement = "*"
	// anyMember stands for every member of an object.
	anyMember = "{*}"
)

// Items yields the pointer and the text of every value that matches a pattern, in the order
// of the report. It may yield a value more than once if several patterns match. A pattern is
// a JSON Pointer in which the token "*" stands for every element of an array, and "{*}" for
// every member of an object. Ill-formed patterns are ignored; check them with Tokens first.
//
// Items walks over the report once, except for values that patterns reach both by a token
// and by a wildcard. It ends early if ctx is done.
func (d *Document) Items(ctx context.Context, patterns []string) func(yield func(ref string, raw jsontext.Value) bool) {
	root := &pattern{}
	for _, p := range patterns {
		if tokens, ok := Tokens(p); ok {
			root.add(tokens, true)
		}
	}
	return func(yield func(string, jsontext.Value) bool) {
		w := walk{ctx: ctx, data: d.data, yield: yield}
		w.value(root, value(d.data, 0))
	}
}

// pattern is a node of a prefix tree of item patterns.
type pattern struct {
	leaf      bool // A pattern ends here.
	any       *pattern
	anyMember *pattern
	named     map[string]*pattern
}

// add adds a pattern. If wild is false, it has only names.
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

// find returns the node of the member with a quoted key. It uses the memory of scratch if it
// must unescape the key, and returns that memory.
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

// walk is one walk over a document. Its recursion is as deep as the patterns are long.
type walk struct {
	ctx     context.Context
	steps   int
	data    []byte
	ref     []byte // the pointer to the current value
	scratch []byte
	yield   func(string, jsontext.Value) bool
	done    bool // The caller stopped, or the context is done.
}

// step checks the context at every 4096th value.
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
		w.ref = append(w.ref, jsontext.Pointer("").AppendToken(string(name))...)
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
