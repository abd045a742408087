package api

import "github.com/switchyard-dev/switchyard/internal/errs"

// Health is the result of Diagnose.
type Health struct {
	// OK reports whether everything that the project needs works.
	OK       bool            `json:"ok"`
	Root     string          `json:"root"`
	Checks   []Check         `json:"checks"`
	Adapters []AdapterHealth `json:"adapters"`
	Agents   []AgentHealth   `json:"agents"`
	// Probe is the run of the executor's adapter, or nil if the caller requested none.
	Probe *SpawnSummary `json:"probe,omitzero"`
}

// Check is the result of one check.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Unused reports that a failed check does not count, because only run depends on it and
	// the project has not used run yet.
	Unused bool `json:"unused,omitzero"`
	// Text describes the result.
	Text string `json:"text"`
	// Code is the error code with which commands would fail, "" if the check passed.
	Code errs.Code `json:"code,omitzero"`
	// Problems lists the problems if there are several.
	Problems []string `json:"problems,omitzero"`
}

// AdapterHealth reports whether an adapter's CLI is usable.
type AdapterHealth struct {
	Name string `json:"name"`
	// Used reports whether a round may run the adapter: the settings name it, or they have
	// no agents and it is the default adapter and is installed.
	Used bool `json:"used"`
	OK   bool `json:"ok"`
	// Binary is the program's path, or "" if it was not found. Version is the version that it
	// prints, or "".
	Binary  string `json:"binary,omitzero"`
	Version string `json:"version,omitzero"`
	// Tested lists the versions that the adapter was tested with, and KnownVersion reports
	// whether Version is one of them.
	Tested       []string `json:"tested,omitzero"`
	KnownVersion bool     `json:"known_version"`
	// Missing lists the flags that the adapter uses and the program's help does not name.
	Missing []string `json:"missing_flags,omitzero"`
	// Problem says why the adapter cannot be used, "" if it can.
	Problem string `json:"problem,omitzero"`
}

// AgentHealth describes the definition of an agent or a module.
type AgentHealth struct {
	Name string `json:"name"`
	// Path is relative to the project's root, "" if the definition is built in.
	Path   string `json:"path,omitzero"`
	Module bool   `json:"module,omitzero"`
	// Problem says why the agent cannot be spawned, "" if it can. Broken reports whether
	// its definition is unreadable, as opposed to an agent that must not be spawned
	// because it edits files.
	Problem string `json:"problem,omitzero"`
	Broken  bool   `json:"broken,omitzero"`
}
