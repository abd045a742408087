// Package finding has the normalized form of critics' findings: the Finding, its
// severity, its fingerprint, and the merge of several critics' findings into one ordered
// list.
//
// All functions are pure and safe for concurrent use.
package finding

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AuditCritic is the critic of the findings of Switchyard's own audits. Plugins cannot use
// it.
const AuditCritic = "audit"

// Severity is the severity of a finding. Unknown severities are valid and rank lowest.
type Severity string

// The known severities, highest first.
const (
	Fail Severity = "fail"
	Risk Severity = "risk"
	Nit  Severity = "nit"
)

// Rank orders severities; 0 is the highest.
func (s Severity) Rank() int {
	switch s {
	case Fail:
		return 0
	case Risk:
		return 1
	case Nit:
		return 2
	default:
		return 3
	}
}

// PreviousStatus is the status of a finding of the previous review.
type PreviousStatus string

// The statuses that a report can state.
const (
	// Open: it still holds.
	Open PreviousStatus = "open"
	// Fixed: it no longer holds.
	Fixed PreviousStatus = "fixed"
	// Withdrawn: the critic takes it back, although the draft did not change.
	Withdrawn PreviousStatus = "withdrawn"
	// Induced: it is fixed, but its fix caused a finding that is reported now.
	Induced PreviousStatus = "induced"
)

// The statuses of a finding that no report mentions.
const (
	// Unverified: no report says that it is fixed.
	Unverified PreviousStatus = "unverified"
	// Gone: all critics that reported it have reported again, without it.
	Gone PreviousStatus = "gone"
)

// IsStated reports whether a report can state the status.
func (s PreviousStatus) IsStated() bool {
	return s == Open || s == Fixed || s == Withdrawn || s == Induced
}

// Finding is a problem that a critic reported. Routing reads Category, Severity, File,
// Line and Remediation.
type Finding struct {
	// Fingerprint identifies the finding across critics and rounds; Merge sets it.
	Fingerprint string `json:"fingerprint"`
	// Critic is the first critic that reported it.
	Critic   string   `json:"critic"`
	Category string   `json:"category"`
	Severity Severity `json:"severity"`
	// Route is the destination that the policy's table gives the category.
	Route string `json:"route"`
	// UnknownCategory is set if the policy's table lacks the category. The finding then
	// stops the loop.
	UnknownCategory bool `json:"unknown_category,omitzero"`
	// File is nil for a finding without a file, and "-" for a promoted criterion.
	File *string `json:"file"`
	// Line counts from 1, or is nil.
	Line        *int   `json:"line"`
	Remediation string `json:"remediation"`
	// Undoes is the fingerprint of an earlier finding of the task if this one asks to undo
	// its fix, otherwise "". Undone is the earlier finding, nil without a task.
	Undoes string  `json:"undoes,omitzero"`
	Undone *Undone `json:"undone,omitzero"`
	// Standing compares the finding with the task's earlier reviews: new, repeat or
	// reopened, or "" without a task.
	Standing string `json:"standing,omitzero"`
	// FirstSeen is the first round with the finding, and SinceRound the round since which it
	// was reported without a gap.
	FirstSeen  int `json:"first_seen,omitzero"`
	SinceRound int `json:"since_round,omitzero"`
	// Reopened counts its returns after it was gone.
	Reopened int `json:"reopened,omitzero"`
	// Induced reports whether its line was changed since the previous review, nil if unknown.
	Induced *bool `json:"induced,omitzero"`
	// ConfirmedBy lists the critics that reported it, each once, in order of
	// appearance.
	ConfirmedBy []string `json:"confirmed_by"`
	// Sources lists its places in all reports, so that a merge can be explained.
	Sources []Source `json:"sources"`
}

// CategoryContradiction is the category of a finding that asks to undo the fix of an
// earlier one. Every critic can raise it, if the policy routes it.
const CategoryContradiction = "contradiction"

// Undone is an earlier finding of a task. Only Round is set if no decision of that round
// has the finding.
type Undone struct {
	// Round is the round since which it was reported.
	Round       int     `json:"round"`
	File        *string `json:"file,omitzero"`
	Line        *int    `json:"line,omitzero"`
	Remediation string  `json:"remediation,omitzero"`
}

// Contradiction describes the earlier finding that this one asks to undo, or returns "".
func (f Finding) Contradiction() string {
	if f.Undoes == "" {
		return ""
	}
	text := "contradicts finding " + f.Undoes
	if f.Undone != nil {
		text += fmt.Sprintf(" of round %d", f.Undone.Round)
		if f.Undone.Remediation != "" {
			text += ": " + Finding{File: f.Undone.File, Line: f.Undone.Line}.Location() + ", " + f.Undone.Remediation
		}
	}
	return text
}

// IsInduced reports whether the last fix is known to have caused the finding.
func (f Finding) IsInduced() bool { return f.Induced != nil && *f.Induced }

// Source is a place in a report.
type Source struct {
	Critic string `json:"critic"`
	Plugin string `json:"plugin"`
	// Report is the digest of the report's bytes, as "sha256:" and 64 hex
	// digits.
	Report string `json:"report"`
	// Ref is a JSON Pointer (RFC 6901) into the report.
	Ref string `json:"ref"`
	// Raw is the report's text at Ref, taken by the host. It is shared: do not modify it.
	Raw jsontext.Value `json:"raw"`
}

// Location returns file:line, the file alone, or "-".
func (f Finding) Location() string {
	switch {
	case f.File == nil:
		return "-"
	case f.Line == nil:
		return *f.File
	default:
		return *f.File + ":" + strconv.Itoa(*f.Line)
	}
}
