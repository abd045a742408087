// Package adr reads and writes decision records: Markdown files with a front
// matter that says what a record decides, in which state it is, and, where it is
// behind a version of a policy, what was proven about that version.
//
// A record is a person's text with a machine's figures in front. So Update writes
// the front matter anew and leaves the body as it is, to the byte.
//
// All functions are pure, but for List, and safe for concurrent use.
package adr

import (
	"fmt"
)

// Status is how far a decision has come.
type Status string

// The states of a record.
const (
	// Proposed: nobody has agreed yet.
	Proposed Status = "proposed"
	// Accepted: it is in force.
	Accepted Status = "accepted"
	// Superseded: it was in force, and a later record has taken its place.
	Superseded Status = "superseded"
	// Rejected: it was thought about and is not done.
	Rejected Status = "rejected"
)

// Decided says that the decision was made: what it is about may be released.
func (s Status) Decided() bool { return s == Accepted || s == Superseded }

// Record is a decision record without its body. It is a copy and belongs to the
// caller.
type Record struct {
	// Name is ADR- and the number, in four digits.
	Name string `json:"name"`
	// Number is the one that the file's name begins with, from 1 to 9999.
	Number int `json:"number"`
	// File is the record's path as the caller of Parse named it, with slashes.
	File string `json:"file"`
	// Title is the first heading, without the name in front.
	Title  string `json:"title"`
	Status Status `json:"status"`
	// Date is the day of the decision, as 2006-01-02.
	Date string `json:"date"`
	// Policy is the version that the record is behind, as routing@1.2.0; "" for a
	// record that is about something else. Such a record has nothing of what follows.
	Policy string `json:"policy,omitzero"`
	// Supersedes is the version before it, "" for the first one.
	Supersedes string `json:"supersedes,omitzero"`
	// Diff is what the version changes, nil until that is filled in.
	Diff *Proof `json:"diff,omitzero"`
	// Replay is what it would have changed, nil until that is filled in.
	Replay *ReplayProof `json:"replay,omitzero"`
	// Waives are the invariants that the version need not keep.
	Waives []Waive `json:"waives"`
}

// Proof is the short form of a computed result, and the digest of its long form.
type Proof struct {
	Summary string `json:"summary"`
	// Digest is "sha256:" and 64 hex digits.
	Digest string `json:"digest"`
}

// ReplayProof is the proof that every decision of a ledger was made again.
type ReplayProof struct {
	Proof
	// Policy is the digest of the policy that the decisions were made with.
	Policy string `json:"policy"`
	// Decisions is how many there were.
	Decisions int64 `json:"decisions"`
	// Through is the number of the ledger's last event at that time.
	Through int64 `json:"through"`
}

// Waive allows a version to break an invariant, and says why.
type Waive struct {
	Invariant string `json:"invariant"`
	Reason    string `json:"reason"`
}

// Name returns the name of the record with that number.
func Name(number int) string { return fmt.Sprintf("ADR-%04d", number) }
