// Package routing loads, checks and evaluates routing policies: the Rego that
// decides where a task goes after a round of review.
//
// A policy is one or more Rego v1 modules. Its package switchyard.routing holds
// three static tables (destinations, route_table, precedence) and one rule,
// decision. The tables are read from the source without evaluating anything;
// the rule is compiled once and evaluated once a round. What a policy may not
// do is enforced here and not left to its author: it must come to exactly one
// decision, in time, to a destination it declares, and it can never commit over
// open findings or a red verification.
//
// Package policies embeds the released versions; here a Loader is given them.
//
// A *Policy is immutable and safe for concurrent use. Every error is an
// *errs.Error with one of the codes of this package.
package routing

import (
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The destinations that mean something to the host itself. Every policy
// declares both as terminal.
const (
	// Commit ends the task well.
	Commit = "commit"
	// Stuck ends the loop until a person steps in.
	Stuck = "stuck"
)

// Kind says who takes a task on at a destination.
type Kind string

// The kinds of destination.
const (
	// Agent is a program that the loop runs.
	Agent Kind = "agent"
	// Human is the user, whose answer the task waits for.
	Human Kind = "human"
	// Terminal is nobody: the loop ends there.
	Terminal Kind = "terminal"
)

// Destination is a place that a decision can send a task to.
type Destination struct {
	Kind Kind `json:"kind"`
	// AdvancesRound says that going there begins the task's next round.
	AdvancesRound bool `json:"advances_round"`
}

// Identity tells one policy from another, so that a recorded decision can be
// traced to the rules that made it.
type Identity struct {
	// Name is the last part of the policy's Rego package.
	Name string `json:"name"`
	// Version is the semantic version that the package's METADATA states.
	Version string `json:"version"`
	// Digest is "sha256:" and 64 hex digits over the policy's modules. Two
	// policies with the same digest decide alike. The file digest.go tells how it
	// is made and how to make it by hand.
	Digest string `json:"digest"`
	// ADR names the decision record that the package's METADATA points to.
	ADR string `json:"adr"`
	// Revision is what the manifest of its bundle calls it, "" elsewhere.
	Revision string `json:"revision,omitzero"`
}

// Policy is a loaded policy, ready to decide. The zero value is not usable; get
// one from Load. It is safe for concurrent use.
type Policy struct {
	ref      string // what it was loaded as, for errors
	identity Identity
	title    string
	signer   string
	engine   Engine
	tables   tables

	// modules and parsed are in step, by name. They and the compiler are only read.
	modules  []module
	parsed   map[string]*ast.Module
	compiler *ast.Compiler

	evaluator evaluator

	lazyMu     sync.Mutex // guards what is only made when it is asked for
	branches   *Branches
	thresholds *Thresholds
}

// Identity says which policy this is.
func (p *Policy) Identity() Identity { return p.identity }

// Title is the title in the METADATA of the policy's package.
func (p *Policy) Title() string { return p.title }

// Engine says what evaluates the policy.
func (p *Policy) Engine() Engine { return p.engine }

// Signer is the id of the key that signed the policy's bundle, "" where no
// signature was checked.
func (p *Policy) Signer() string { return p.signer }

// Route returns the destination of a finding's category. A category that the
// policy does not know goes to Stuck, with known false.
func (p *Policy) Route(category string) (destination string, known bool) {
	if to, ok := p.tables.routes[category]; ok {
		return to, true
	}
	return Stuck, false
}

// Destination returns the destination of that name, or false if the policy
// declares none.
func (p *Policy) Destination(name string) (Destination, bool) {
	d, ok := p.tables.destinations[name]
	return d, ok
}

// Destinations returns every destination by its name. The map is the caller's.
func (p *Policy) Destinations() map[string]Destination { return maps.Clone(p.tables.destinations) }

// RouteTable returns the destination of every known category. The map is the
// caller's.
func (p *Policy) RouteTable() map[string]string { return maps.Clone(p.tables.routes) }

// Precedence returns the destinations that findings can have, strongest first.
// Stuck is always among them, in front where the policy does not list it. The
// slice is the caller's.
func (p *Policy) Precedence() []string { return slices.Clone(p.tables.precedence) }

// Strongest returns the first destination of the precedence that has a count
// above 0, or "" if none has. It looks at the counts alone: whether the task
// really goes there is for Decide to say.
func (p *Policy) Strongest(routes map[string]int) string {
	for _, name := range p.tables.precedence {
		if routes[name] > 0 {
			return name
		}
	}
	return ""
}
