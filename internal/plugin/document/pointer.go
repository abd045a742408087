package document

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// At returns the report's text at a JSON Pointer (RFC 6901), and whether the
// pointer is well-formed and the value exists. Do not modify the text.
func (d *Document) At(pointer string) (found jsontext.Value, ok bool) {
	tokens, ok := Tokens(pointer)
	if !ok {
		return nil, false
	}
	root := &pattern{}
	root.add(tokens, false)
	w := walk{ctx: context.Background(), data: d.data, yield: func(_ string, raw jsontext.Value) bool {
		found = raw
		return false
	}}
	w.value(root, value(d.data, 0))
	return found, found != nil
}

// Detects reports whether the document has values at all pointers of all, and at at least
// one pointer of some unless some is empty. Pointers start at the document's root. If the
// document is an array, they may also start at its first element: a report may be a list of
// reports. Detects returns false without any pointers, and if ctx is done.
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

// Tokens splits a JSON Pointer into its unescaped reference tokens, and reports
// whether it is well-formed.
func Tokens(pointer string) ([]string, bool) {
	p := jsontext.Pointer(pointer)
	return slices.Collect(p.Tokens()), p.IsValid()
}
