// Package routing loads, checks and evaluates routing policies: the Rego that decides
// where a task goes after a round of review.
//
// A policy is one or more Rego v1 modules. Its package switchyard.routing holds three
// static tables (destinations, route_table, precedence) and one rule, decision. The
// tables are read from the source without evaluation; the rule is compiled once and
// evaluated once a round. The host does not rely on a policy's author: it requires
// exactly one decision, in time, to a declared destination, and never commits over open
// findings or a red verification.
//
// Package policies embeds the released versions and passes them to a Loader.
//
// A *Policy is immutable and safe for concurrent use. Every error is an *errs.Error with
// one of the codes of this package.
package routing

import (
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The destinations with a fixed meaning. Every policy declares both as terminal.
const (
	// Commit ends the task successfully.
	Commit = "commit"
	// Stuck stops the loop until a person intervenes.
	Stuck = "stuck"
)

// Kind is the kind of actor at a destination.
type Kind string

// The kinds of destination.
const (
	// Agent is a program that the loop runs.
	Agent Kind = "agent"
	// Human is the user: the task waits for an answer.
	Human Kind = "human"
	// Terminal is the end of the loop, without an actor.
	Terminal Kind = "terminal"
)

// Destination describes a destination of decisions.
type Destination struct {
	Kind Kind `json:"kind"`
	// AdvancesRound reports whether going there begins the task's next round.
	AdvancesRound bool `json:"advances_round"`
}

// Identity identifies a policy, so that a recorded decision can be traced to the rules
// that made it.
type Identity struct {
	// Name is the last part of the policy's Rego package.
	Name string `json:"name"`
	// Version is the semantic version in the package's METADATA.
	Version string `json:"version"`
	// Digest is "sha256:" and 64 hex digits over the policy's modules. Policies with the
	// same digest make the same decisions. The function Digest computes it.
	Digest string `json:"digest"`
	// ADR names the decision record that the package's METADATA points to.
	ADR string `json:"adr"`
	// Revision is the revision in its bundle's manifest, or "".
	Revision string `json:"revision,omitzero"`
}

// String returns NAME@VERSION, such as routing@1.3.0.
func (i Identity) String() string { return i.Name + "@" + i.Version }

// Policy is a loaded policy, ready to decide. Use Load to get one; the zero value is not
// usable. It is safe for concurrent use.
type Policy struct {
	contract
	ref    string // the reference it was loaded from, for errors
	signer string
	engine Engine

	// modules and parsed describe the same files. They and the compiler are read-only.
	modules  []module
	parsed   map[string]*ast.Module
	compiler *ast.Compiler

	evaluate    evaluator // of the decision
	evaluateBar evaluator // nil without a bar

	lazyMu     sync.Mutex // guards the lazily computed fields
	branches   map[Rule]*Branches
	thresholds map[Rule]*Thresholds
	memories   map[Rule]*memory
}

// Identity returns the policy's identity.
func (p *Policy) Identity() Identity { return p.identity }

// Title returns the title in the METADATA of the policy's package.
func (p *Policy) Title() string { return p.title }

// HasBar reports whether the policy has a rule named bar, and so sees Input.Facts.
func (p *Policy) HasBar() bool { return p.bar }

// Engine returns the engine that evaluates the policy.
func (p *Policy) Engine() Engine { return p.engine }

// Signer returns the id of the key that signed the policy's bundle, or "" if no signature
// was checked.
func (p *Policy) Signer() string { return p.signer }

// Route returns the destination of a finding's category. An unknown category goes to
// Stuck, with known false.
func (p *Policy) Route(category string) (destination string, known bool) {
	if to, ok := p.tables.routes[category]; ok {
		return to, true
	}
	return Stuck, false
}

// Destination returns the destination of that name, or false if it is not declared.
func (p *Policy) Destination(name string) (Destination, bool) {
	d, ok := p.tables.destinations[name]
	return d, ok
}

// Destinations returns every destination by name. The caller owns the map.
func (p *Policy) Destinations() map[string]Destination { return maps.Clone(p.tables.destinations) }

// RouteTable returns the destination of every known category. The caller owns the map.
func (p *Policy) RouteTable() map[string]string { return maps.Clone(p.tables.routes) }

// Precedence returns the destinations that accept findings, strongest first. Stuck is
// always among them, in front if the policy does not list it. The caller owns the slice.
func (p *Policy) Precedence() []string { return slices.Clone(p.tables.precedence) }

// Strongest returns the first destination of the precedence with a count above 0, or "" if
// all counts are 0. Decide may choose another destination.
func (p *Policy) Strongest(routes map[string]int) string {
	for _, name := range p.tables.precedence {
		if routes[name] > 0 {
			return name
		}
	}
	return ""
}
