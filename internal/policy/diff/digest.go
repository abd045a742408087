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

// meaning is the content covered by Diff.Digest.
type meaning struct {
	From         string       `json:"from,omitzero"`
	To           string       `json:"to"`
	Categories   Categories   `json:"categories"`
	Destinations Destinations `json:"destinations"`
	Precedence   *Precedence  `json:"precedence,omitzero"`
	Decisions    string       `json:"decisions,omitzero"`
}

// Digest identifies the difference, so that a decision record can refer to it. It is the
// SHA-256 of canonical JSON (RFC 8785) with the references of both policies, the
// differences of their tables, and the digest of the decisions. It covers neither the
// text nor the digest of a policy.
//
// Classes depend on the numbers that a policy compares its input with. So two texts with
// equal meaning have one digest as long as they compare with the same numbers.
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

// reference returns the policy's NAME@VERSION.
func reference(id routing.Identity) string { return id.Name + "@" + id.Version }

// cell is a class whose decision changes.
type cell struct {
	Input routing.Input    `json:"input"`
	From  routing.Decision `json:"from"`
	To    routing.Decision `json:"to"`
}

// digestCells returns the SHA-256 of a list with one line per class: the class's smallest
// input and both decisions as canonical JSON, then "\n". The lines are sorted bytewise.
// The input omits destinations without findings.
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

// canonical returns value as canonical JSON. Categories are arbitrary text, so invalid
// UTF-8 must not fail.
func canonical(value any) string {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		panic(err) // strings, integers and booleans can always be encoded
	}
	return string(text)
}
