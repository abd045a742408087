// Package abi has the types of plugin ABI v1 that the host and its tools share, the rules
// for names and codes, and the ways in which a plugin can break the ABI.
package abi

import "github.com/switchyard-dev/switchyard/internal/errs"

// Problem is a rule of the ABI that a plugin breaks. Several problems share an error code.
// The error's details have the problem as "problem", and errors.Is finds it.
type Problem string

// Error implements error.
func (p Problem) Error() string { return "plugin problem " + string(p) }

// The problems of plugin-abi.
const (
	// NotWasm: the file is not a WebAssembly module.
	NotWasm Problem = "not-wasm"
	// Component: it is a module of the component model.
	Component Problem = "component"
	// Malformed: it is not a valid module, or uses features that the host does not support.
	Malformed Problem = "malformed"
	// Oversized: it declares more functions, variables or tables than the limits.
	Oversized Problem = "oversized"
	// UnknownABI: it speaks another version of the ABI.
	UnknownABI Problem = "unknown-abi"
	// MissingExport: an export of the ABI is missing.
	MissingExport Problem = "missing-export"
	// WrongExport: an export has another type.
	WrongExport Problem = "wrong-export"
	// ForbiddenImport: it imports something outside WASI preview 1.
	ForbiddenImport Problem = "forbidden-import"
	// NullPointer: sy_alloc refused to hand out memory.
	NullPointer Problem = "null-pointer"
	// OutOfRange: a pointer leads out of the plugin's memory.
	OutOfRange Problem = "out-of-range"
	// Overlap: sy_alloc handed out the same memory twice.
	Overlap Problem = "overlap"
)

// The problems of plugin-invalid-output.
const (
	// InvalidUTF8: the answer is not UTF-8.
	InvalidUTF8 Problem = "invalid-utf8"
	// InvalidJSON: the answer is not one JSON value, or has a key twice.
	InvalidJSON Problem = "invalid-json"
	// WrongSchema: the answer breaks the schema.
	WrongSchema Problem = "wrong-schema"
	// ReservedName: the plugin takes a built-in plugin's name, or Auto.
	ReservedName Problem = "reserved-name"
)

// The problems of plugin-conservation-violated.
const (
	// Dropped: an item of the report is neither a finding nor skipped.
	Dropped Problem = "dropped"
	// Invented: a ref leads nowhere.
	Invented Problem = "invented"
	// Contradicted: an item is both a finding and skipped, or skipped twice.
	Contradicted Problem = "contradicted"
)

// Violation returns an error with the problem in its details and as its cause.
func Violation(code errs.Code, problem Problem, format string, args ...any) *errs.Error {
	return errs.New(code, format, args...).With("problem", string(problem)).Because(problem)
}
