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

// Items yields the pointer and the text of every value that one of the patterns
// matches, in the order of the report; a value that several match may come more
// than once. A pattern is a JSON Pointer in which the token "*" stands for every
// element of an array, and "{*}" for every member of an object. An ill-formed
// pattern matches nothing; check it with Tokens first.
//
// The report is walked over once, but for values that patterns name both by
// number or name and by a wildcard: what is in those is looked at once for each. It
// ends early when ctx is done.
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

// pattern is a step of item patterns that begin alike: what may come next.
type pattern struct {
	leaf      bool // One ends here.
	any       *pattern
	anyMember *pattern
	named     map[string]*pattern
}

// add adds a pattern. Unless it is wild, a wildcard is a name like any other.
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

// find returns what follows the member with a quoted key. The key is unescaped
// once, however many names there are, into scratch.
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

// walk is one walk over a document. It goes as deep as its patterns are long.
type walk struct {
	ctx     context.Context
	steps   int
	data    []byte
	ref     []byte // of the value at hand
	scratch []byte
	yield   func(string, jsontext.Value) bool
	done    bool // The caller wants no more, or the context is done.
}

// step counts the values that are passed, and looks at the context now and then.
func (w *walk) step() {
	if w.steps++; w.steps%4096 == 0 && w.ctx.Err() != nil {
		w.done = true
	}
}

// value walks over the value at i and returns where it ends.
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
