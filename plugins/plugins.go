// Package plugins runs normalizers: small WebAssembly guests that turn a
// critic's report into findings (ABI v1, docs/plugin-abi.md).
//
// A guest is not trusted. It sees one report and its own configuration, but no files, no
// network, no environment and no arguments. Its clock advances only when it is read, and its
// randomness is seeded. Its memory, time and output are limited, every report gets a fresh
// instance, and the host checks that every item of the report is accounted for. ADR-0006 has
// the reasons.
package plugins

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// The data of plugins. The host's packages share these types.
type (
	// Limits are the limits of one guest. A zero field takes its default.
	Limits = abi.Limits
	// Identity identifies a plugin exactly.
	Identity = abi.Identity
	// Description is a guest's description of itself.
	Description = abi.Description
	// Result is a normalised report.
	Result = abi.Result
	// Skipped is an item of a report that is not a finding, and the reason.
	Skipped = abi.Skipped
	// Unmapped is a rule without a category in the configuration.
	Unmapped = abi.Unmapped
	// Statement is a report's statement about a finding of the previous review.
	Statement = abi.Statement
	// Inspection describes a plugin's file.
	Inspection = abi.Inspection
	// Source is a report's bytes as they were read.
	Source = document.Source
	// Document is a report as JSON. Plugin.Document makes one from a Source.
	Document = document.Document
	// Error is the type of this package's errors. Its Code is one of docs/errors.md.
	Error = errs.Error
)

// Read takes ownership of a report's bytes, of at most 32 MiB.
//
// # Errors
//
// report-too-large or report-invalid-utf8.
func Read(report []byte) (*Source, error) { return document.Read(report, document.Limits{}) }
