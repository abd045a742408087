package api

import "github.com/switchyard-dev/switchyard/internal/errs"

// Health is what Diagnose found.
type Health struct {
	// OK says that nothing that the project needs is broken.
	OK       bool            `json:"ok"`
	Root     string          `json:"root"`
	Checks   []Check         `json:"checks"`
	Adapters []AdapterHealth `json:"adapters"`
	Agents   []AgentHealth   `json:"agents"`
}

// Check is one thing that was looked at.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Text says what was found.
	Text string `json:"text"`
	// Code is that of the error with which commands fail for it, "" if it is fine.
	Code errs.Code `json:"code,omitzero"`
	// Problems are the single ones, if there are several.
	Problems []string `json:"problems,omitzero"`
}

// AdapterHealth says whether an adapter's CLI can be used.
type AdapterHealth struct {
	Name string `json:"name"`
	// Used says that a round may run it: the project's settings name it, or say
	// nothing of agents and it is the default one, and its program is there.
	Used bool `json:"used"`
	OK   bool `json:"ok"`
	// Binary is the program's path, "" where there is none, and Version what it
	// says of itself, "" where it says nothing.
	Binary  string `json:"binary,omitzero"`
	Version string `json:"version,omitzero"`
	// Tested lists the versions that the adapter was held against, and
	// KnownVersion says that this is one of them.
	Tested       []string `json:"tested,omitzero"`
	KnownVersion bool     `json:"known_version"`
	// Missing are flags that the adapter needs and the program's help does not
	// name.
	Missing []string `json:"missing_flags,omitzero"`
	// Problem says why it cannot be used, "" for no reason.
	Problem string `json:"problem,omitzero"`
}

// AgentHealth is an agent or a module that a name leads to.
type AgentHealth struct {
	Name string `json:"name"`
	// Path is relative to the project's root, "" for ours.
	Path   string `json:"path,omitzero"`
	Module bool   `json:"module,omitzero"`
	// Problem says why it cannot be spawned, "" for no reason. Broken says that its
	// definition cannot be read; that of one that edits files can.
	Problem string `json:"problem,omitzero"`
	Broken  bool   `json:"broken,omitzero"`
}
