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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/safefile"
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
	Name string `json:"name" yaml:"-"`
	// Number is the number at the beginning of the file's name, from 1 to 9999.
	Number int `json:"number" yaml:"-"`
	// File is the record's path as passed to Parse, with slashes.
	File string `json:"file" yaml:"-"`
	// Title is the first heading, without the name in front.
	Title  string `json:"title" yaml:"-"`
	Status Status `json:"status" yaml:"status"`
	// Date is the day of the decision, as 2006-01-02.
	Date string `json:"date" yaml:"date"`
	// Policy is the version that the record is about, such as routing@1.2.0, or "" for
	// another subject. Then all following fields are empty.
	Policy string `json:"policy,omitzero" yaml:"policy,omitempty"`
	// Supersedes is the previous version, or "" for the first one.
	Supersedes string `json:"supersedes,omitzero" yaml:"supersedes,omitempty"`
	// Diff is the changes of the version, or nil until filled in.
	Diff *Figures `json:"diff,omitzero" yaml:"diff,omitempty"`
	// Replay is the effect of the version on recorded decisions, or nil until filled in.
	Replay *ReplayFigures `json:"replay,omitzero" yaml:"replay,omitempty"`
	// Waives lists the invariants that the version may violate.
	Waives []Waive `json:"waives" yaml:"waives,omitempty"`
}

// Figures is the summary of a computed result, and the digest of the complete result.
type Figures struct {
	Summary string `json:"summary" yaml:"summary"`
	// Digest is "sha256:" and 64 hex digits.
	Digest string `json:"digest" yaml:"digest"`
}

// ReplayFigures is the result of a ledger's replay.
type ReplayFigures struct {
	Figures `yaml:",inline"`
	// Policy is the digest of the candidate policy.
	Policy string `json:"policy" yaml:"policy"`
	// Decisions is the number of replayed decisions.
	Decisions int64 `json:"decisions" yaml:"decisions"`
	// Through is the number of the ledger's last event at that time.
	Through int64 `json:"through" yaml:"through"`
}

// Waive allows a version to violate an invariant, with a reason.
type Waive struct {
	Invariant string `json:"invariant" yaml:"invariant"`
	Reason    string `json:"reason" yaml:"reason"`
}

// Name returns the name of the record with that number.
func Name(number int) string { return fmt.Sprintf("ADR-%04d", number) }

// The largest record, and the largest total of a directory's records, in bytes: List returns
// all of them at once.
const (
	maxBytes    = 1 << 20
	maxAllBytes = 16 << 20
)

// Found is a file in a directory of records.
type Found struct {
	// File is its path below the listed root.
	File string
	// Text is its content.
	Text []byte
	// Record is the parsed record, if Err is nil.
	Record Record
	// Err is the reason why the file is not a record.
	Err error
	// IsForeign is set if the file is not a record because it is of another format: it has no
	// front matter that names a policy.
	IsForeign bool
}

// List reads the records of a directory below root, sorted by file name. It reads files
// whose names end in .md and begin with a digit. A missing directory counts as empty.
//
// # Errors
//
// Errors of the file system for the directory itself. The error of a single file is in its
// Found.
func List(root *os.Root, dir string) ([]Found, error) {
	entries, err := fs.ReadDir(root.FS(), dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Found
	bytes := 0
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".md") || name[0] < '0' || name[0] > '9' {
			continue
		}
		f := read(root, path.Join(dir, name))
		if bytes += len(f.Text); bytes > maxAllBytes {
			f = Found{File: f.File, Err: invalid(f.File, 0, "it and the records before it have more than %d bytes together", maxAllBytes)}
		}
		all = append(all, f)
	}
	return all, nil
}

func read(root *os.Root, file string) Found {
	f := Found{File: file}
	var err error
	if f.Text, err = safefile.Read(root, file, maxBytes); err != nil {
		f.Err = invalid(file, 0, "it cannot be read: %w", safefile.Reason(err))
		return f
	}
	f.Record, f.Err = Parse(file, f.Text)
	f.IsForeign = f.Err != nil && !namesPolicy(f.Text)
	return f
}

// namesPolicy reports whether a text has a front matter with the key policy, also if it is not
// valid.
func namesPolicy(text []byte) bool {
	first := true
	for line := range strings.Lines(string(text)) {
		// The first line and no other one before the key is a fence.
		if isFence := strings.TrimRight(line, " \t\r\n") == fence; isFence != first {
			return false
		}
		if strings.HasPrefix(line, "policy:") {
			return true
		}
		first = false
	}
	return false
}
