package stats_test

import (
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
)

// node is an element of a page.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	// text is the text of the element and its descendants.
	text strings.Builder
}

// parse reads a page as XML, which is stricter than any browser: a name that is not
// escaped leaves the page malformed or adds elements.
func parse(t testing.TB, text string) *node {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	root := &node{}
	open := []*node{root}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attrs: make(map[string]string)}
			for _, a := range token.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			at := open[len(open)-1]
			at.children = append(at.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, n := range open {
				n.text.Write(token)
			}
		}
	}
	return root
}

// all yields the element and its descendants.
func (n *node) all() iter.Seq[*node] {
	return func(yield func(*node) bool) { n.walk(yield) }
}

func (n *node) walk(yield func(*node) bool) bool {
	if !yield(n) {
		return false
	}
	for _, c := range n.children {
		if !c.walk(yield) {
			return false
		}
	}
	return true
}

// named lists the elements with a name.
func (n *node) named(name string) []*node {
	var found []*node
	for e := range n.all() {
		if e.name == name {
			found = append(found, e)
		}
	}
	return found
}

// is reports whether an element has a class.
func (n *node) is(class string) bool { return slices.Contains(strings.Fields(n.attrs["class"]), class) }

// words returns the element's trimmed text.
func (n *node) words() string { return strings.TrimSpace(n.text.String()) }

// table returns the cells of the table with a caption.
func (n *node) table(t testing.TB, caption string) [][]string {
	t.Helper()
	for _, table := range n.named("table") {
		if c := table.named("caption"); len(c) != 1 || c[0].words() != caption {
			continue
		}
		var rows [][]string
		for _, tr := range table.named("tbody")[0].children {
			var row []string
			for _, cell := range tr.children {
				row = append(row, cell.words())
			}
			rows = append(rows, row)
		}
		return rows
	}
	t.Fatalf("there is no table %q", caption)
	return nil
}
