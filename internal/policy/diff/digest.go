package diff

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// meaning is what Diff.Digest covers.
type meaning struct {
	From         string       `json:"from,omitzero"`
	To           string       `json:"to"`
	Categories   Categories   `json:"categories"`
	Destinations Destinations `json:"destinations"`
	Precedence   *Precedence  `json:"precedence,omitzero"`
	Decisions    string       `json:"decisions,omitzero"`
}

// Digest identifies the difference, so that a decision record can be bound to it.
// It is the SHA-256 of canonical JSON (RFC 8785) with the references of both
// policies, the differences of their tables, and the digest of the decisions. No
// text of a policy is part of it, nor a digest of one.
//
// Cells are divided by the numbers that a policy compares its input with. So two
// texts with equal meaning have one digest as long as they compare with the same
// numbers.
func (d Diff) Digest() string {
	m := meaning{
		To:         reference(d.To),
		Categories: d.Categories, Destinations: d.Destinations, Precedence: d.Precedence,
		Decisions: d.Decisions.Digest,
	}
	if d.From != nil {
		m.From = reference(*d.From)
	}
	return digest.Of(canonical(m))
}

// reference names a policy as in routing@1.0.0.
func reference(id routing.Identity) string { return id.Name + "@" + id.Version }

// cell is a cell whose decision changes.
type cell struct {
	Input routing.Input    `json:"input"`
	From  routing.Decision `json:"from"`
	To    routing.Decision `json:"to"`
}

// digestCells is the SHA-256 of a list that has one line for every cell: the
// cell's smallest input and both decisions as canonical JSON, then "\n". The lines
// are sorted by byte order. Destinations without findings are left out of the
// input.
func digestCells(cells []cell) string {
	if len(cells) == 0 {
		return ""
	}
	lines := make([]string, len(cells))
	for i, c := range cells {
		c.Input.Routes = maps.Clone(c.Input.Routes)
		maps.DeleteFunc(c.Input.Routes, func(_ string, n int) bool { return n == 0 })
		lines[i] = canonical(c) + "\n"
	}
	slices.Sort(lines)
	return digest.Of(strings.Join(lines, ""))
}

// canonical is value as canonical JSON. Categories are any text, so bytes that
// are no UTF-8 must not fail it.
func canonical(value any) string {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		panic(err) // strings, whole numbers and booleans always have a JSON
	}
	return string(text)
}
