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

// Limits are the limits of one guest. A zero field takes its default.
type Limits struct {
	// Memory is the maximum size of a guest's linear memory, in bytes.
	Memory int64
	// Time limits the processing of one report.
	Time time.Duration
	// Output is the maximum size of an answer, in bytes.
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
	// Name is the name of the plugin, or of the configuration that it runs with.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Digest is the SHA-256 of the module's bytes, as "sha256:" and 64 hex digits.
	Digest string `json:"digest"`
	// Use is the plugin's own name if Name is the name of a configuration, else "".
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
	// Critic is the critic of reports that do not name one.
	Critic string `json:"critic"`
	// Formats are the media types that the plugin reads.
	Formats []string `json:"formats"`
	// Detect are JSON Pointers that all exist in a report of the format.
	Detect []string `json:"detect"`
	// DetectAny are JSON Pointers of which at least one exists in a report of the format. A
	// plugin without Detect and DetectAny is never detected.
	DetectAny []string `json:"detect_any,omitempty"`
	// Items are patterns of JSON Pointers to the items of a report, which must be accounted
	// for: "*" stands for every element of an array, "{*}" for every member of an object.
	Items []string `json:"items"`
	// ItemsFrom is a JSON Pointer into the plugin's configuration, or "". The pattern there,
	// or the list of patterns, adds to Items.
	ItemsFrom string `json:"items_from,omitempty"`
	// LinesIf is a JSON Pointer into the plugin's configuration, or "". If the value there is
	// true, the report is JSON lines, possibly empty.
	LinesIf string `json:"lines_if,omitempty"`
}

// Result is a normalised report.
type Result struct {
	// Critic is the report's critic; a finding may name another.
	Critic string
	// TaskID and Round are nil if the report does not name them.
	TaskID *string
	Round  *int
	// Findings have one source each and are confirmed by their own critic.
	Findings []finding.Finding
	Skipped  []Skipped
	// Unmapped are the rules of findings with a default category.
	Unmapped []Unmapped
	// Previous has at most one statement for each finding of the previous review.
	Previous []Statement
}

// Answer is a result in the form of a guest's answer, with all defaults filled in.
type Answer struct {
	Critic   string              `json:"critic"`
	TaskID   *string             `json:"task_id"`
	Round    *int                `json:"round"`
	Findings []NormalizedFinding `json:"findings"`
	Skipped  []Skipped           `json:"skipped"`
	Unmapped []Unmapped          `json:"unmapped"`
	Previous []Statement         `json:"previous,omitzero"`
}

// NormalizedFinding is a finding of an Answer.
type NormalizedFinding struct {
	Critic      string           `json:"critic"`
	Category    string           `json:"category"`
	Severity    finding.Severity `json:"severity"`
	File        *string          `json:"file"`
	Line        *int             `json:"line"`
	Remediation string           `json:"remediation"`
	Undoes      string           `json:"undoes,omitzero"`
	Ref         string           `json:"ref"`
}

// Answer returns the result as an answer.
func (r Result) Answer() Answer {
	a := Answer{Critic: r.Critic, TaskID: r.TaskID, Round: r.Round, Skipped: r.Skipped, Unmapped: r.Unmapped, Previous: r.Previous}
	for _, f := range r.Findings {
		a.Findings = append(a.Findings, NormalizedFinding{
			f.Critic, f.Category, f.Severity, f.File, f.Line, f.Remediation, f.Undoes, f.Sources[0].Ref,
		})
	}
	return a
}

// Statement is a report's statement about a finding of the previous review.
type Statement struct {
	// ID is the finding's fingerprint.
	ID     string                 `json:"id"`
	Status finding.PreviousStatus `json:"status"`
	// Ref is a JSON Pointer into the report.
	Ref string `json:"ref"`
}

// Unmapped is a rule without a category in the configuration. Category is the default that
// its findings have.
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
	// Description is nil if the plugin could not be run.
	*Description
	Digest string `json:"digest"`
	// Size is in bytes.
	Size int `json:"size"`
	// ABI is the version that the module declares, such as "v1", or "".
	ABI string `json:"abi"`
	// Outline is the readable part of the module.
	wasmbin.Outline
}

// Auto stands for detection in place of a plugin's name, so no plugin has it.
const Auto = "auto"

// IsName reports whether s has the form of a plugin's name: a code of at most 64 bytes.
func IsName(s string) bool {
	return IsCode(s) && len(s) <= 64
}

// IsCode reports whether s is words of lower-case letters and digits, joined by dashes, of
// at most 128 bytes.
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

// IsReserved reports whether only the host may use a code. A guest's refusal must not look
// like an error of the command line, the state, the policy or the budget.
func IsReserved(code string) bool {
	if errs.Code(code) == errs.PluginConfigInvalid {
		return false
	}
	first, _, _ := strings.Cut(code, "-")
	return slices.Contains([]string{
		"usage", "internal", "interrupted", "output", "no", "file", "path", "config", "report", "plugin",
		"policy", "task", "round", "decision", "state", "ledger", "budget",
	}, first)
}
