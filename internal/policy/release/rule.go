package release

// Rule is a property that Lint checks. The names are stable.
type Rule string

// Rules for the folder of a version.
const (
	// FolderName: the folder has the name of the version in its METADATA.
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
	// Proven: the invariants hold, or the record waives them.
	Proven Rule = "proven"
)

// Rules for its decision record.
const (
	// RecordValid: a file in the records folder is a valid record, and the only one of
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
	switch r {
	case RecordSupersedes, RecordDiff, RecordReplay, Locked:
		return true
	}
	return false
}
