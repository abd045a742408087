package api

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Auto selects the one plugin that recognises a report.
const Auto = abi.Auto

// Stdin, as the path of a report, means standard input.
const Stdin = "-"

// NormalizedReport is the result of a plugin for one report, before findings are merged.
type NormalizedReport struct {
	Plugin abi.Identity
	// Report is the digest of the report's bytes.
	Report string
	abi.Result
}

// PluginInventory lists the plugins that a project can use by name.
type PluginInventory struct {
	// OK reports whether no plugin has a problem.
	OK bool `json:"ok"`
	// Plugins are the plugins that are built in or in the project, and the named
	// configurations, sorted by name.
	Plugins []InstalledPlugin `json:"plugins"`
}

// InstalledPlugin is a plugin that a project can use by name.
type InstalledPlugin struct {
	// Description has only the name if the plugin has a problem, and Digest is empty.
	abi.Description
	// Digest is the digest of its module.
	Digest string `json:"digest"`
	// Path is the path of its file relative to the project's root, "" if it is built in.
	Path string `json:"path"`
	// Use is the plugin that it configures, "" if it is a plugin itself.
	Use string `json:"use,omitzero"`
	// Problem says why it cannot be used, or is nil.
	Problem *PluginProblem `json:"problem,omitzero"`
}

// PluginProblem says why a plugin cannot be used.
type PluginProblem struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
}

// PluginInspection is a plugin's module and the limits that it runs under.
type PluginInspection struct {
	abi.Inspection
	Limits PluginLimits `json:"limits"`
}

// PluginLimits are the limits of a plugin. Sizes are in bytes.
type PluginLimits struct {
	Memory int64 `json:"memory"`
	TimeMS int64 `json:"time_ms"`
	Output int64 `json:"output"`
	// Report is the maximum size of a report for the plugin.
	Report int64 `json:"report"`
}

// PluginModule is a plugin's module, which may be broken.
type PluginModule struct {
	// Wasm is the module's bytes. Do not modify it.
	Wasm []byte
	// Limits are the limits that the plugin runs under.
	Limits abi.Limits
}

// PluginLockResult is the result of locking a project's plugins.
type PluginLockResult struct {
	Path string `json:"path"`
	// Plugins are the pins of the new lock, by path.
	Plugins []project.Pin `json:"plugins"`
	// Changes are the differences from the old lock: first the added and changed pins, then
	// the removed ones.
	Changes []PinChange `json:"changes"`
	// Unreadable says why the old lock could not be read, or is nil.
	Unreadable error `json:"-"`
}

// PinChange is a pin that differs between the old and the new lock.
type PinChange struct {
	// Pin is the new pin, or the removed one.
	Pin  project.Pin `json:"-"`
	Path string      `json:"path"`
	// Change is PinAdded, PinChanged or PinRemoved.
	Change string `json:"change"`
	// Before and After are digests, nil if there is no pin.
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// The values of PinChange.Change.
const (
	PinAdded   = "added"
	PinChanged = "changed"
	PinRemoved = "removed"
)

// Benchmark is the cost of a plugin on one report. Sizes are in bytes, times in
// nanoseconds.
type Benchmark struct {
	Plugin   abi.Identity `json:"plugin"`
	Report   string       `json:"report"`
	Bytes    int          `json:"report_bytes"` // of the document that the plugin gets
	Findings int          `json:"findings"`
	Skipped  int          `json:"skipped"`
	Compiled Timing       `json:"cold_compiled"`
	Cached   Timing       `json:"cold_cached"`
	Warm     Timing       `json:"warm"`
	Guest    Timing       `json:"warm_guest"`
	// PerFinding is the warm median divided by the number of findings, or nil without
	// findings.
	PerFinding *int64 `json:"per_finding_ns"`
	// Memory is the guest's memory at the end of a call.
	Memory int64 `json:"memory"`
}

// Timing is the shortest and the median time of a number of runs.
type Timing struct {
	Runs   int   `json:"runs"`
	Min    int64 `json:"min_ns"`
	Median int64 `json:"median_ns"`
}
