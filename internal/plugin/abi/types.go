package abi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// Limits bound one guest. A zero field takes its default.
type Limits struct {
	// Memory is the most linear memory a guest may have, in bytes.
	Memory int64
	// Time is the longest that normalising one report may take.
	Time time.Duration
	// Output is the largest answer, in bytes.
	Output int64
}

// The default limits.
const (
	DefaultMemory = 64 << 20
	DefaultTime   = 2 * time.Second
	DefaultOutput = 64 << 20
)

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Memory: cmp.Or(l.Memory, DefaultMemory), Time: cmp.Or(l.Time, DefaultTime), Output: cmp.Or(l.Output, DefaultOutput),
	}
}

// Identity identifies a plugin exactly.
type Identity struct {
	// Name is the plugin's name, or that of the configuration that it runs with.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Digest is the SHA-256 of the module's bytes, as "sha256:" and 64 hex
	// digits.
	Digest string `json:"digest"`
	// Use is the plugin's own name if Name is that of a configuration, else "".
	Use string `json:"use,omitempty"`
}

// String returns the name and version; for a configuration also the plugin's name.
func (i Identity) String() string {
	if i.Use != "" {
		return i.Name + " (" + i.Use + "@" + i.Version + ")"
	}
	return i.Name + "@" + i.Version
}

// Description is a guest's description of itself.
type Description struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Critic is the critic of reports that name none.
	Critic string `json:"critic"`
	// Formats are the media types it reads.
	Formats []string `json:"formats"`
	// Detect are JSON Pointers that all exist in a report of its format.
	Detect []string `json:"detect"`
	// DetectAny are JSON Pointers of which at least one exists in a report of
	// its format. A plugin with neither is never detected.
	DetectAny []string `json:"detect_any,omitempty"`
	// Items are pointer patterns for everything in a report that must be
	// accounted for; "*" stands for every element of an array, "{*}" for every
	// member of an object.
	Items []string `json:"items"`
	// ItemsFrom is a JSON Pointer into the plugin's configuration, "" for none: the
	// pattern there, or each of the list there, joins Items.
	ItemsFrom string `json:"items_from,omitempty"`
	// LinesIf is a JSON Pointer into the plugin's configuration, "" for none: if the
	// value there is true, the report is JSON lines, possibly empty.
	LinesIf string `json:"lines_if,omitempty"`
}

// Result is a normalised report.
type Result struct {
	// Critic is the report's critic; a finding may name another.
	Critic string
	// TaskID and Round are the task and round that the report names, or nil.
	TaskID *string
	Round  *int
	// Findings have one source each and are confirmed by their own critic.
	Findings []finding.Finding
	// Skipped are the items that are not findings, with the reason.
	Skipped []Skipped
	// Unmapped are the rules whose findings have a default category.
	Unmapped []Unmapped
	// Previous are the statements about findings of the previous review, each finding once.
	Previous []Statement
}

// Statement says what became of a finding of the previous review.
type Statement struct {
	// ID is the finding's fingerprint.
	ID     string                 `json:"id"`
	Status finding.PreviousStatus `json:"status"`
	// Ref is a JSON Pointer into the report.
	Ref string `json:"ref"`
}

// Unmapped is a rule that the configuration gives no category, and the default
// that its findings have instead.
type Unmapped struct {
	Rule     string `json:"rule"`
	Category string `json:"category"`
}

// Skipped is an item of a report that is not a finding, and the reason.
type Skipped struct {
	// Ref is a JSON Pointer into the report.
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// Inspection describes a plugin's file, whether or not the host would run it.
type Inspection struct {
	// Description is the plugin's description of itself, nil if it could not be
	// run.
	*Description
	// Digest and Size are the file's, Size in bytes.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
	// ABI is the version that the module declares, as in "v1", or "".
	ABI string `json:"abi"`
	// Outline is the part of the original module that could be read.
	wasmbin.Outline
}

// IsName reports whether s can name a plugin: lower-case letters, digits and
// dashes, at most 64, starting with a letter or digit.
func IsName(s string) bool {
	return IsCode(s) && len(s) <= 64
}

// IsCode reports whether s is words of lower-case letters and digits joined by
// dashes, of at most 128 bytes.
func IsCode(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// IsReserved reports whether a code is the host's. A guest must not pass its
// refusal off as an error of the command line, the state or the policy.
func IsReserved(code string) bool {
	if errs.Code(code) == errs.PluginConfigInvalid {
		return false
	}
	first, _, _ := strings.Cut(code, "-")
	return slices.Contains([]string{
		"usage", "internal", "interrupted", "output", "no", "file", "path", "config", "report", "plugin",
		"policy", "task", "round", "decision", "state", "ledger",
	}, first)
}
