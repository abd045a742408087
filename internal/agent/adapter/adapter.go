// Package adapter describes the command lines of coding agents: how to call each without a
// terminal, and how to read its output. An adapter is a JSON file (docs/adapters.md); a user's
// file can replace an embedded one.
//
// The package does not start processes. It builds the arguments and the environment of a
// process, and reads its output as it grows.
package adapter

// Adapter describes an agent's command line. It is immutable.
type Adapter struct {
	spec spec
}

// Needs lists the things that a check of the installed program has to find.
type Needs struct {
	// Version are the arguments that print the version, or nil.
	Version []string
	// Help lists the arguments that print help texts. Each of Flags has to be in one of these
	// texts.
	Help  [][]string
	Flags []string
}

// Name consists of lower-case letters, digits and dashes.
func (a *Adapter) Name() string { return a.spec.Name }

// Tested lists the versions of the program that the adapter was tested with, or prefixes
// of them.
func (a *Adapter) Tested() []string { return a.spec.Tested }

func (a *Adapter) Needs() Needs {
	return Needs{Version: a.spec.Version, Help: a.spec.Help, Flags: a.spec.Flags}
}

// SeesTools reports whether this CLI's output lists the tools that were used.
func (a *Adapter) SeesTools() bool { return len(a.spec.Tools) > 0 }

// SearchTools lists the CLI's names of tools that search.
func (a *Adapter) SearchTools() []string { return a.spec.SearchTools }
