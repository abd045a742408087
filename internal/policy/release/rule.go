package release

// Rule is something that Lint looks at. The names are stable.
type Rule string

// What is held about the folder of a version.
const (
	// FolderName: a folder is called as the version that its METADATA states.
	FolderName Rule = "folder-name"
	// Loads: the policy loads.
	Loads Rule = "loads"
	// Formatted: every file is as opa fmt writes it.
	Formatted Rule = "formatted"
	// Metadata: every table and the decision have a title.
	Metadata Rule = "metadata"
	// Tested: there are tests, and they pass.
	Tested Rule = "tested"
	// Covered: the tests reach every line.
	Covered Rule = "covered"
	// Proven: the invariants hold, or the record waives them.
	Proven Rule = "proven"
)

// What is held about its decision record.
const (
	// RecordValid: a file of the records' folder is a record, and the only one of its
	// number.
	RecordValid Rule = "adr-valid"
	// RecordNamed: the record that METADATA names is there, and is about that version
	// alone.
	RecordNamed Rule = "adr-named"
	// RecordAccepted: it is accepted.
	RecordAccepted Rule = "adr-accepted"
	// RecordSupersedes: it names the version before.
	RecordSupersedes Rule = "adr-supersedes"
	// RecordDiff: its diff is the real one.
	RecordDiff Rule = "adr-diff"
	// RecordReplay: its replay is one of that policy, and the real one where there is
	// a ledger.
	RecordReplay Rule = "adr-replay"
	// RecordText: its author has written what New asks for.
	RecordText Rule = "adr-text"
	// RecordWaives: what it waives can be waived.
	RecordWaives Rule = "adr-waives"
)

// What is held about the versions together.
const (
	// Step: versions follow each other without a gap, in steps as large as their
	// changes.
	Step Rule = "step"
	// LockValid: versions.lock is there and in its format.
	LockValid Rule = "lock-valid"
	// Locked: the version is in versions.lock.
	Locked Rule = "locked"
	// Unchanged: a version that was released, or is built in, is what it was.
	Unchanged Rule = "unchanged"
	// Stored: a version that was released is still there.
	Stored Rule = "kept"
)

// filledIn says that Release itself settles what the rule finds.
func (r Rule) filledIn() bool {
	switch r {
	case RecordSupersedes, RecordDiff, RecordReplay, Locked:
		return true
	}
	return false
}
