// Package adr reads and writes decision records: Markdown files whose front matter has
// the decision, its status and, for a version of a policy, the checked figures of that
// version.
//
// People write the body and programs the figures in the front matter. So Update rewrites
// the front matter and leaves the body unchanged, byte by byte.
//
// All functions except List are pure, and all are safe for concurrent use.
package adr

import (
	"fmt"
)

// Status is the status of a decision.
type Status string

// The statuses of a record.
const (
	// Proposed: it is not accepted yet.
	Proposed Status = "proposed"
	// Accepted: it is in force.
	Accepted Status = "accepted"
	// Superseded: it was in force, and a later record has replaced it.
	Superseded Status = "superseded"
	// Rejected: it was considered and not accepted.
	Rejected Status = "rejected"
)

// Decided reports whether the decision was made, so that its version may be released.
func (s Status) Decided() bool { return s == Accepted || s == Superseded }

// Record is a decision record without its body. It is a copy; the caller owns it.
type Record struct {
	// Name is ADR- and the number, in four digits.
	Name string `json:"name"`
	// Number is the number at the beginning of the file's name, from 1 to 9999.
	Number int `json:"number"`
	// File is the record's path as passed to Parse, with slashes.
	File string `json:"file"`
	// Title is the first heading, without the name in front.
	Title  string `json:"title"`
	Status Status `json:"status"`
	// Date is the day of the decision, as 2006-01-02.
	Date string `json:"date"`
	// Policy is the version that the record is about, such as routing@1.2.0, or "" for
	// another subject. Then all following fields are empty.
	Policy string `json:"policy,omitzero"`
	// Supersedes is the previous version, or "" for the first one.
	Supersedes string `json:"supersedes,omitzero"`
	// Diff is the changes of the version, or nil until filled in.
	Diff *Proof `json:"diff,omitzero"`
	// Replay is the effect of the version on recorded decisions, or nil until filled in.
	Replay *ReplayProof `json:"replay,omitzero"`
	// Waives lists the invariants that the version may violate.
	Waives []Waive `json:"waives"`
}

// Proof is the summary of a computed result, and the digest of the complete result.
type Proof struct {
	Summary string `json:"summary"`
	// Digest is "sha256:" and 64 hex digits.
	Digest string `json:"digest"`
}

// ReplayProof is the result of a ledger's replay.
type ReplayProof struct {
	Proof
	// Policy is the digest of the candidate policy.
	Policy string `json:"policy"`
	// Decisions is the number of replayed decisions.
	Decisions int64 `json:"decisions"`
	// Through is the number of the ledger's last event at that time.
	Through int64 `json:"through"`
}

// Waive allows a version to violate an invariant, with a reason.
type Waive struct {
	Invariant string `json:"invariant"`
	Reason    string `json:"reason"`
}

// Name returns the name of the record with that number.
func Name(number int) string { return fmt.Sprintf("ADR-%04d", number) }
