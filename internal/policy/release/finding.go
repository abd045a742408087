package release

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Finding is one defect of a tree.
type Finding struct {
	Rule Rule `json:"rule"`
	// Policy is the version with the defect, such as routing@1.2.0, or "" if the defect is
	// not in one version.
	Policy string `json:"policy,omitzero"`
	// ADR is the decision record with the defect.
	ADR string `json:"adr,omitzero"`
	// File is the file or directory with the defect, relative to the tree's root.
	File string `json:"file,omitzero"`
	// Location is the line in it, if known.
	Location *routing.Location `json:"place,omitzero"`
	// Message is one lower-case sentence without a full stop.
	Message string `json:"message"`
	// Hint says how to fix it.
	Hint string `json:"hint,omitzero"`
}

// at returns the finding with a location.
func (f Finding) at(p routing.Location) Finding {
	if p.File != "" {
		f.File, f.Location = p.File, &p
	}
	return f
}

// hint returns the finding with a hint.
func (f Finding) hint(format string, args ...any) Finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// problems returns a copy of f for each problem that err lists, or one for err itself.
func problems(f Finding, err error) []Finding {
	var list []routing.Problem
	if e, ok := errors.AsType[*errs.Error](err); !ok {
		list = routing.Problems(err)
	} else if list, ok = e.Details["problems"].([]routing.Problem); !ok {
		list = []routing.Problem{{Message: e.Message}}
	}
	var all []Finding
	for _, p := range list {
		f.Message = p.Message
		all = append(all, f.at(routing.Location{File: p.File, Row: p.Row, Col: p.Col, Text: strings.TrimSpace(p.Source)}))
	}
	return all
}

// compareFindings orders by version, then by file and line.
func compareFindings(a, b Finding) int {
	row := func(f Finding) int {
		if f.Location == nil {
			return 0
		}
		return f.Location.Row
	}
	return cmp.Or(
		compareReferences(a.Policy, b.Policy), cmp.Compare(a.File, b.File), cmp.Compare(row(a), row(b)),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
	)
}

// compareReferences orders versions by age: "" first, invalid versions last.
func compareReferences(a, b string) int {
	switch {
	case isVersion(a) && isVersion(b):
		return routing.CompareRefs(a, b)
	case isVersion(a) && b != "":
		return -1
	case isVersion(b) && a != "":
		return 1
	default:
		return cmp.Compare(a, b)
	}
}

// Rule is a property that Lint checks. The names are stable.
type Rule string

// Rules for the directory of a version.
const (
	// FolderName: the directory has the name of the version in its METADATA.
	FolderName Rule = "folder-name"
	// Loads: the policy loads.
	Loads Rule = "loads"
	// Formatted: every file is formatted as by opa fmt.
	Formatted Rule = "formatted"
	// Metadata: every table and the decision have a title.
	Metadata Rule = "metadata"
	// Tested: there are tests, and they pass.
	Tested Rule = "tested"
	// Covered: the tests cover every line.
	Covered Rule = "covered"
	// InvariantsHold: the invariants hold, or the record waives them.
	InvariantsHold Rule = "proven"
)

// Rules for its decision record.
const (
	// RecordValid: a file in the records directory is a valid record, and the only one of
	// its number.
	RecordValid Rule = "adr-valid"
	// RecordNamed: the record that METADATA names exists and is only about that version.
	RecordNamed Rule = "adr-named"
	// RecordAccepted: it is accepted.
	RecordAccepted Rule = "adr-accepted"
	// RecordSupersedes: it names the previous version.
	RecordSupersedes Rule = "adr-supersedes"
	// RecordDiff: its diff is correct.
	RecordDiff Rule = "adr-diff"
	// RecordReplay: its replay is of that policy and, if there is a ledger, correct.
	RecordReplay Rule = "adr-replay"
	// RecordText: its author has completed the sections created by New.
	RecordText Rule = "adr-text"
	// RecordWaives: the invariants it waives can be waived.
	RecordWaives Rule = "adr-waives"
)

// Rules for the versions together.
const (
	// Step: versions follow each other without gaps, in steps as large as their changes.
	Step Rule = "step"
	// LockValid: versions.lock exists and is valid.
	LockValid Rule = "lock-valid"
	// Locked: the version is in versions.lock.
	Locked Rule = "locked"
	// Unchanged: a released or built-in version has not changed.
	Unchanged Rule = "unchanged"
	// Stored: a released version still exists.
	Stored Rule = "kept"
)

// filledIn reports whether Release itself fixes the rule's findings.
func (r Rule) filledIn() bool {
	return slices.Contains([]Rule{RecordSupersedes, RecordDiff, RecordReplay, Locked}, r)
}
