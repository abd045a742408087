// Package diff compares the meaning of two policies.
//
// It compares behaviour, not text: the tables as they are read, and the decisions over
// the whole domain that both share (internal/policy/inputspace). Formatting, comments,
// METADATA texts, and the order and names of rules are ignored, so two texts with equal
// meaning have no difference.
//
// It does no I/O, and uses the clock only for its timeout: the same two policies always
// give the same Diff, byte by byte.
package diff

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Diff is the change in meaning from one policy to another. Its lists are sorted. It is
// read-only once it has been returned.
type Diff struct {
	// From is nil if To is the first version.
	From         *routing.Identity `json:"from,omitzero"`
	To           routing.Identity  `json:"to"`
	Categories   Categories        `json:"categories"`
	Destinations Destinations      `json:"destinations"`
	// Precedence is nil if both rank the same destinations in the same order.
	Precedence *Precedence `json:"precedence,omitzero"`
	Decisions  Decisions   `json:"decisions"`
	// Gaps are the uses of the input in either policy that the domain cannot bound. If
	// there are any, Decisions may be incomplete.
	Gaps []routing.Location `json:"gaps"`
}

// Timeout bounds a comparison. The largest domain takes a fifth of it. A policy that
// exceeds it is slow for every input, but not slow enough for any single one to time out.
const Timeout = 2 * time.Minute

// Compare returns the changes from one policy to another. If from is nil, to is the first
// version and everything in it is new.
//
// Decisions are compared by destination: the effect of a rerouted category on them is not
// expanded. Findings for a destination that only one of the policies sends findings to
// are not compared.
//
// It makes every decision twice, on all processors, which takes some tenths of a second.
//
// # Errors
//
//   - policy-domain-too-large: the policies have too many input classes.
//   - policy-timeout: one of the policies timed out for some input, ctx's deadline is
//     over, or the comparison took longer than Timeout.
//   - policy-failed: ctx is canceled, which is reachable through errors.Is.
func Compare(ctx context.Context, from, to *routing.Policy) (Diff, error) {
	d := Diff{To: to.Identity()}
	if from == nil {
		d.Categories = compareRoutes(nil, to.RouteTable())
		d.Destinations = compareDestinations(nil, to.Destinations())
		d.Precedence = comparePrecedence(nil, to.Precedence())
		d.Decisions = newTally().decisions()
		return d, nil
	}
	identity := from.Identity()
	d.From = &identity
	d.Categories = compareRoutes(from.RouteTable(), to.RouteTable())
	d.Destinations = compareDestinations(from.Destinations(), to.Destinations())
	d.Precedence = comparePrecedence(from.Precedence(), to.Precedence())
	ctx, stop := context.WithTimeout(ctx, Timeout)
	defer stop()
	var err error
	d.Decisions, d.Gaps, err = compareDecisions(ctx, from, to)
	if err != nil {
		return Diff{}, err
	}
	return d, nil
}

// Empty reports whether both policies have the same meaning, for every possible input. It
// is false if that cannot be determined: see Gaps. Two policies of one text are always
// equal.
func (d Diff) Empty() bool { return !d.differs() && !d.open() }

// differs reports whether a difference was found.
func (d Diff) differs() bool {
	return d.From == nil || d.Categories.changed() || d.Destinations.changed() || d.Precedence != nil ||
		len(d.Decisions.Changed) > 0 || len(d.Decisions.Reasons) > 0
}

// open reports whether there may be differences that cannot be found.
func (d Diff) open() bool {
	return len(d.Gaps) > 0 && d.From != nil && d.From.Digest != d.To.Digest
}

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
