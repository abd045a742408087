package outcome

// Facts are the facts on which a verdict depends. The zero value and all unknown values are
// failures.
type Facts struct {
	// Started is set if there was a process.
	Started bool
	// Killed is the reason why we ended the process, NotKilled if it ended by itself.
	Killed EndCause
	// Failure is the class of the error that the output reports.
	Failure Class
	Exit    Exit
	// Text is the agent's final message.
	Text Text
	// Denials is set if the agent was refused a tool.
	Denials bool
	// Rejected is set if the caller's own check rejected the answer or report.
	Rejected bool
	// Changed is set if the working tree changed during the run.
	Changed bool

	// Edits is set for an agent that is to edit the working tree. Then Tree counts instead of
	// Changed.
	Edits bool
	Tree  Tree

	// Report is set if the agent has to write a report. The following fields count only then.
	Report bool
	// Envelope is the result of ReadEnvelope, and File the result of CheckReport.
	Envelope Envelope
	File     File
	// Passed is Summary.Passed, which depends on the report's contents, not on the agent's
	// claim.
	Passed bool
}

// EndCause is the reason why we ended a process. It takes precedence over the output: some
// CLIs exit with 0 and report success on the signal that ended them.
type EndCause string

// The causes.
const (
	NotKilled             EndCause = ""
	KilledTimedOut        EndCause = "timed-out"
	KilledIdle            EndCause = "idle"              // It wrote nothing for too long.
	KilledOutputLimit     EndCause = "output-limit"      // It wrote too much.
	KilledBudget          EndCause = "budget"            // It used more tokens than allowed.
	KilledHungAfterResult EndCause = "hung-after-result" // It reported a final result and did not exit.
	KilledCancelled       EndCause = "cancelled"         // The caller cancelled it.
	KilledLost            EndCause = "lost"              // We were killed, and it was cleaned up later.
)

// Tree is the state of the working tree of an agent that edits.
type Tree string

// The states of a working tree. The first one that applies counts.
const (
	TreeGone             Tree = "gone"
	TreeUnreadable       Tree = "unreadable"        // It cannot be compared.
	TreeGitChanged       Tree = "git-changed"       // Git's own records differ.
	TreeProtectedChanged Tree = "protected-changed" // A file that affects later rounds differs.
	TreeEdited           Tree = "edited"            // Only other files differ.
	TreeUnchanged        Tree = "unchanged"
)

// Exit is the kind of a process's exit.
type Exit string

// The kinds of exits.
const (
	ExitZero    Exit = "zero"
	ExitNonzero Exit = "nonzero"
	ExitSignal  Exit = "signal"
)

// Text is the state of the agent's final message.
type Text string

// The states of a final message.
const (
	TextPresent    Text = "present"
	TextEmpty      Text = "empty"      // It is white space.
	TextAbsent     Text = "absent"     // The output ends without one.
	TextUnreadable Text = "unreadable" // The output does not have the form that the adapter promises.
)

// Envelope is the state of the object {critic, task_id, round, verdict,
// blockers_count, report_path} in a critic's final message.
type Envelope string

// The states of an envelope.
const (
	EnvelopeOK           Envelope = "ok"
	EnvelopeAbsent       Envelope = "absent"
	EnvelopeInvalid      Envelope = "invalid"      // It is cut short, or a key is missing, duplicated or of another type.
	EnvelopeAmbiguous    Envelope = "ambiguous"    // There are several that differ.
	EnvelopeWrongTask    Envelope = "wrong-task"   // It names another task.
	EnvelopeWrongRound   Envelope = "wrong-round"  // It names another round.
	EnvelopeWrongRun     Envelope = "wrong-run"    // It names another run.
	EnvelopeInconsistent Envelope = "inconsistent" // It says passed and counts blockers.
	EnvelopeError        Envelope = "error"        // It says that the critic failed, or that there is no report.
	EnvelopeOutside      Envelope = "elsewhere"    // It names another path for the report.
)

// File is the state of the report file.
type File string

// The states of a report file.
const (
	FileOK          File = "ok"
	FileAbsent      File = "absent"
	FileUnreadable  File = "unreadable"
	FileNotRegular  File = "not-regular" // It is a link, a directory or a pipe.
	FileStale       File = "stale"       // It is older than the run.
	FileEmpty       File = "empty"
	FileTooLarge    File = "too-large"
	FileInvalid     File = "invalid"      // It is not JSON, or a field is missing or invalid.
	FileNotAReport  File = "not-a-report" // It is an envelope, a list, or has neither findings nor criteria.
	FileWrongTask   File = "wrong-task"
	FileWrongRound  File = "wrong-round"
	FileWrongCritic File = "wrong-critic" // It names another critic than the envelope.
	FileContradicts File = "contradicts"  // Its verdict contradicts its contents or the envelope.
)
