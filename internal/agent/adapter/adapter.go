// Package adapter knows the command lines of coding agents: how each is called
// without a terminal, and how to read what it prints. What differs between them is
// data, one JSON file for each (docs/adapters.md); the embedded ones can be
// replaced by a file of the user's.
//
// The package starts nothing. It makes the arguments and the environment of a
// process, and reads the output as it grows.
package adapter

import (
	"slices"
)

// Adapter is one agent's command line as data. It is immutable and safe for
// concurrent use.
type Adapter struct {
	name   string
	bin    string
	tested []string
	digest string
	needs  Needs
	search []string
	call   call
	form   form
	rules  rules
}

// Needs is what a check of the installed program has to find.
type Needs struct {
	// Version are the arguments that make it print its version, nil where it has
	// none.
	Version []string
	// Help lists arguments that make it print help. Each of Flags has to stand in
	// one of these texts.
	Help [][]string
	// Flags are those that the adapter uses.
	Flags []string
}

// Name is the adapter's name: lower-case letters, digits and dashes.
func (a *Adapter) Name() string { return a.name }

// Tested lists the versions of the program that the adapter was held against, or
// the starts of them.
func (a *Adapter) Tested() []string { return slices.Clone(a.tested) }

// Digest is "sha256:" and 64 hex digits over the bytes of the adapter's file.
func (a *Adapter) Digest() string { return a.digest }

// Needs says what a check of the installed program has to find.
func (a *Adapter) Needs() Needs {
	n := Needs{Version: slices.Clone(a.needs.Version), Flags: slices.Clone(a.needs.Flags)}
	for _, argv := range a.needs.Help {
		n.Help = append(n.Help, slices.Clone(argv))
	}
	return n
}

// SeesTools reports whether this CLI's output tells which tools were used.
func (a *Adapter) SeesTools() bool { return len(a.rules.tools) > 0 }

// SearchTools lists the tools that search, by the names that this CLI gives them.
func (a *Adapter) SearchTools() []string { return slices.Clone(a.search) }

// searches reports whether a tool searches.
func (a *Adapter) searches(tool string) bool { return slices.Contains(a.search, tool) }
