// Package finding holds what a critic said, in the one form that routing
// understands: the Finding, its severity, its fingerprint, and the merge of
// several critics' findings into one ordered list.
//
// It is ground floor: it imports nothing of ours, does no I/O, and every
// function is a pure function of its arguments, safe for concurrent use.
package finding

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AuditCritic is the critic of findings that Switchyard's own audits raise. No
// plugin may speak in its name.
const AuditCritic = "audit"

// Severity is how grave a finding is. Any other string than the three named
// ones is kept and ranks below them.
type Severity string

// The severities that routing knows, gravest first.
const (
	Fail Severity = "fail"
	Risk Severity = "risk"
	Nit  Severity = "nit"
)

// Rank orders severities: 0 is the gravest, a higher rank is less grave.
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

// Finding is one thing that somebody has to do something about. Routing reads
// Category, Severity, File, Line and Remediation; the rest says who found it
// and where the words stand.
type Finding struct {
	// Fingerprint identifies the finding across critics and rounds; Merge sets
	// it. See the function of that name.
	Fingerprint string `json:"fingerprint"`
	// Critic said it first.
	Critic   string   `json:"critic"`
	Category string   `json:"category"`
	Severity Severity `json:"severity"`
	// Route is the destination that the policy's table gives the category.
	Route string `json:"route"`
	// UnknownCategory says that the policy's table lacks the category, so that
	// the finding stops the loop instead of being guessed at.
	UnknownCategory bool `json:"unknown_category,omitzero"`
	// File is nil where the finding names none, and "-" for a promoted
	// criterion.
	File *string `json:"file"`
	// Line counts from 1 and is nil where the finding names none.
	Line        *int   `json:"line"`
	Remediation string `json:"remediation"`
	// Standing is what the finding is compared with the task's earlier reviews:
	// new, a repeat of the last one, or reopened. It is "" where no task is known.
	Standing string `json:"standing,omitzero"`
	// SinceRound is the round since which it stands without a gap.
	SinceRound int `json:"since_round,omitzero"`
	// Reopened counts how often it came back after it was gone.
	Reopened int `json:"reopened,omitzero"`
	// ConfirmedBy lists the critics that reported it, each once, in order of
	// appearance.
	ConfirmedBy []string `json:"confirmed_by"`
	// Sources lists every place that reported it, so that a merge can be
	// explained and undone.
	Sources []Source `json:"sources"`
}

// Source is one place in one report that a finding came from.
type Source struct {
	Critic string `json:"critic"`
	Plugin string `json:"plugin"`
	// Report is the digest of the report's bytes, as "sha256:" and 64 hex
	// digits.
	Report string `json:"report"`
	// Ref is a JSON Pointer (RFC 6901) into the report.
	Ref string `json:"ref"`
	// Raw is the report's own text at Ref, cut out by the host. It is shared,
	// not copied: do not modify it.
	Raw jsontext.Value `json:"raw"`
}

// Location says where the finding is, as file:line, "-" where it names no file.
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
