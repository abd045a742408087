// Package profile names the levels of an agent's write access (docs/adapters.md). An adapter
// turns a profile into the flags of its CLI.
package profile

// Profile is an agent's write access.
type Profile string

// The profiles. The zero value means Readonly.
const (
	// Readonly is for researchers and plan-checkers, which write nothing.
	Readonly Profile = "readonly"
	// Report is for critics, which write one report.
	Report Profile = "report"
	// Edit is for executors, which edit the files of their own working tree.
	Edit Profile = "edit"
)
