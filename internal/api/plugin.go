package api

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Auto selects the one plugin that recognises a report.
const Auto = "auto"

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
	// Plugins are the built-in plugins, those of the project, and the named
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
	// Problem says why it cannot be used, nil if it can.
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
	Limits abi.Limits
	// ReportLimit is the maximum size of a report for the plugin, in bytes.
	ReportLimit int64
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
	// Pins are the pins of the new lock, by path, and Before those of the old lock.
	Pins, Before []project.Pin
	// Unreadable says why the old lock could not be read, nil if it could.
	Unreadable error
}
