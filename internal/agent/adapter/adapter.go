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

// Adapter describes an agent's command line. It is immutable.
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
	// Version are the arguments that print the version, nil for none.
	Version []string
	// Help lists arguments that print help. Each of Flags has to be in one of these
	// texts.
	Help  [][]string
	Flags []string
}

// Name consists of lower-case letters, digits and dashes.
func (a *Adapter) Name() string { return a.name }

// Tested lists the versions of the program that the adapter was tested with, or prefixes
// of them.
func (a *Adapter) Tested() []string { return slices.Clone(a.tested) }

// Digest is "sha256:" and 64 hex digits over the adapter's file.
func (a *Adapter) Digest() string { return a.digest }

func (a *Adapter) Needs() Needs {
	n := Needs{Version: slices.Clone(a.needs.Version), Flags: slices.Clone(a.needs.Flags)}
	for _, argv := range a.needs.Help {
		n.Help = append(n.Help, slices.Clone(argv))
	}
	return n
}

// SeesTools reports whether this CLI's output lists the tools that were used.
func (a *Adapter) SeesTools() bool { return len(a.rules.tools) > 0 }

// SearchTools lists the CLI's names of tools that search.
func (a *Adapter) SearchTools() []string { return slices.Clone(a.search) }

func (a *Adapter) searches(tool string) bool { return slices.Contains(a.search, tool) }
