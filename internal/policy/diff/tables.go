package diff

import (
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

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
	var rest []string
	for _, s := range list {
		if !slices.Contains(other, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// names returns the keys of both maps, sorted and unique.
func names[V any](from, to map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(from)), maps.Keys(to))
	slices.Sort(all)
	return slices.Compact(all)
}
