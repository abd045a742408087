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
	// Bars compares the bars, as next actions without a reason. It is nil if neither policy
	// has the rule bar. A policy without that rule has the bar all.
	Bars *Decisions `json:"bars,omitzero"`
	// Gaps are the uses of the input in either policy that the domain cannot bound. If
	// there are any, Decisions may be incomplete.
	Gaps []routing.Location `json:"gaps"`
}

// timeout bounds a comparison. The largest domain takes a fifth of it. A policy that
// exceeds it is slow for every input, but not slow enough for any single one to time out.
const timeout = 2 * time.Minute

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
//     over, or the comparison took longer than timeout.
//   - policy-failed: ctx is canceled, which is reachable through errors.Is.
func Compare(ctx context.Context, from, to *routing.Policy) (Diff, error) {
	d := Diff{To: to.Identity()}
	if from == nil {
		d.Categories = compareRoutes(nil, to.RouteTable())
		d.Destinations = compareDestinations(nil, to.Destinations())
		d.Precedence = comparePrecedence(nil, to.Precedence())
		return d, nil
	}
	d.From = new(from.Identity())
	d.Categories = compareRoutes(from.RouteTable(), to.RouteTable())
	d.Destinations = compareDestinations(from.Destinations(), to.Destinations())
	d.Precedence = comparePrecedence(from.Precedence(), to.Precedence())
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	var err error
	if d.Decisions, d.Gaps, err = compareRule(ctx, routing.DecisionRule, from, to); err != nil {
		return Diff{}, err
	}
	if !from.HasBar() && !to.HasBar() {
		return d, nil
	}
	bars, gaps, err := compareRule(ctx, routing.BarRule, from, to)
	if err != nil {
		return Diff{}, err
	}
	d.Bars = &bars
	for _, gap := range gaps {
		if !slices.Contains(d.Gaps, gap) {
			d.Gaps = append(d.Gaps, gap)
		}
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
		len(d.Decisions.Changed) > 0 || len(d.Decisions.Reasons) > 0 || d.Bars != nil && len(d.Bars.Changed) > 0
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
	Bars         string       `json:"bars,omitzero"`
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
		To:         d.To.String(),
		Categories: d.Categories, Destinations: d.Destinations, Precedence: d.Precedence,
		Decisions: d.Decisions.Digest,
	}
	if d.Bars != nil {
		m.Bars = d.Bars.Digest
	}
	if d.From != nil {
		m.From = d.From.String()
	}
	return digest.Of(canonical(m))
}

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

// Categories holds the changes of the route table, sorted by category.
type Categories struct {
	// Added categories had no row before, so their findings went to routing.Stuck.
	Added []Route `json:"added"`
	// Removed categories have no row any more, so their findings go to routing.Stuck.
	Removed  []Route   `json:"removed"`
	Rerouted []Reroute `json:"rerouted"`
}

// Route is a row of the route table.
type Route struct {
	Category    string `json:"category"`
	Destination string `json:"destination"`
}

// Reroute is a category whose destination changes.
type Reroute struct {
	Category string `json:"category"`
	From     string `json:"from"`
	To       string `json:"to"`
}

// Destinations holds the changes of the declared destinations, sorted by name.
type Destinations struct {
	Added   []Declared   `json:"added"`
	Removed []Declared   `json:"removed"`
	Changed []Redeclared `json:"changed"`
}

// Declared is a destination with its name.
type Declared struct {
	Name string `json:"name"`
	routing.Destination
}

// Redeclared is a destination whose declaration changes.
type Redeclared struct {
	Name string              `json:"name"`
	From routing.Destination `json:"from"`
	To   routing.Destination `json:"to"`
}

// Precedence is the two orders in which destinations are ranked, strongest first.
type Precedence struct {
	From []string `json:"from"`
	To   []string `json:"to"`
	// Reordered reports whether two destinations ranked in both have swapped order. If
	// false, rows were only added or removed.
	Reordered bool `json:"reordered"`
}

func (c Categories) changed() bool { return len(c.Added)+len(c.Removed)+len(c.Rerouted) > 0 }

func (d Destinations) changed() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) > 0 }

func compareRoutes(from, to map[string]string) Categories {
	var c Categories
	for _, category := range names(from, to) {
		before, was := from[category]
		now, is := to[category]
		switch {
		case !was:
			c.Added = append(c.Added, Route{category, now})
		case !is:
			c.Removed = append(c.Removed, Route{category, before})
		case before != now:
			c.Rerouted = append(c.Rerouted, Reroute{category, before, now})
		}
	}
	return c
}

func compareDestinations(from, to map[string]routing.Destination) Destinations {
	var d Destinations
	for _, name := range names(from, to) {
		before, was := from[name]
		now, is := to[name]
		switch {
		case !was:
			d.Added = append(d.Added, Declared{name, now})
		case !is:
			d.Removed = append(d.Removed, Declared{name, before})
		case before != now:
			d.Changed = append(d.Changed, Redeclared{name, before, now})
		}
	}
	return d
}

func comparePrecedence(from, to []string) *Precedence {
	if slices.Equal(from, to) {
		return nil
	}
	return &Precedence{From: from, To: to, Reordered: !slices.Equal(shared(from, to), shared(to, from))}
}

// raised returns the newly ranked destinations.
func (p *Precedence) raised() []string { return without(p.To, p.From) }

// dropped returns the destinations that are no longer ranked.
func (p *Precedence) dropped() []string { return without(p.From, p.To) }

// shared returns the elements of list that are in other, in list's order.
func shared(list, other []string) []string { return without(list, without(list, other)) }

// without returns the elements of list that are not in other, in list's order.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// names returns the keys of both maps, sorted and unique.
func names[V any](from, to map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(from)), maps.Keys(to))
	slices.Sort(all)
	return slices.Compact(all)
}
