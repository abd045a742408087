package outcome

// Facts is all that a verdict rests on. Its zero value is a failure, and so is
// every value that is not one of the constants.
type Facts struct {
	// Started says that there was a process at all.
	Started bool
	// EndCause says why we ended the process, empty where it ended by itself.
	Killed EndCause
	// Failure is the class of the error that the output itself reports,
	// NoClass where it reports none.
	Failure Class
	// Exit is how the process ended.
	Exit Exit
	// Text is the agent's final message.
	Text Text
	// Denials says that a tool was refused to the agent.
	Denials bool
	// Changed says that the working tree differs from what it was before.
	Changed bool

	// Report says that the agent owes a report. What follows counts only then.
	Report bool
	// Envelope is what ReadEnvelope made of the final message.
	Envelope Envelope
	// File is what CheckReport made of the report.
	File File
	// Passed says that the contents of the report hold nothing to object to:
	// Summary.Passed, not the word of the agent.
	Passed bool
}

// EndCause is why a process was ended before it ended itself. It outweighs
// whatever the process said: CLIs have been seen to exit with 0, and with a
// success, on the very signal that killed them.
type EndCause string

// The reasons to end a process.
const (
	NotKilled             EndCause = ""
	KilledTimedOut        EndCause = "timed-out"         // Its time was over.
	KilledIdle            EndCause = "idle"              // It wrote nothing for too long.
	KilledOutputLimit     EndCause = "output-limit"      // It wrote too much.
	KilledBudget          EndCause = "budget"            // It used more than it was given.
	KilledHungAfterResult EndCause = "hung-after-result" // It said it was done, and did not end.
	KilledCancelled       EndCause = "cancelled"         // Our caller wanted it.
	KilledLost            EndCause = "lost"              // We were killed ourselves, and it was swept up later.
)

// Exit is how a process ended.
type Exit string

// The ways to end.
const (
	ExitZero    Exit = "zero"
	ExitNonzero Exit = "nonzero"
	ExitSignal  Exit = "signal"
)

// Text is what there is of the agent's final message.
type Text string

// The states of a final message.
const (
	TextPresent    Text = "present"
	TextEmpty      Text = "empty"      // There is one, of white space at most.
	TextAbsent     Text = "absent"     // The output ends without one.
	TextUnreadable Text = "unreadable" // The output has not the form that the adapter promises.
)

// Envelope is what there is of the object {critic, task_id, round, verdict,
// blockers_count, report_path} that a critic's final message must hold.
type Envelope string

// The states of an envelope.
const (
	EnvelopeOK           Envelope = "ok"
	EnvelopeAbsent       Envelope = "absent"
	EnvelopeInvalid      Envelope = "invalid"      // It is cut short, has a key twice, lacks one, or has a value of another type.
	EnvelopeAmbiguous    Envelope = "ambiguous"    // There are several, and they differ.
	EnvelopeWrongTask    Envelope = "wrong-task"   // It is about another task.
	EnvelopeWrongRound   Envelope = "wrong-round"  // It is about another round.
	EnvelopeWrongCritic  Envelope = "wrong-critic" // It is another critic's.
	EnvelopeWrongRun     Envelope = "wrong-run"    // It is another run's.
	EnvelopeInconsistent Envelope = "inconsistent" // It says passed, and counts blockers.
	EnvelopeError        Envelope = "error"        // It says that the critic failed, or that there is no report.
	EnvelopeElsewhere    Envelope = "elsewhere"    // Its report is not where it was to be written.
)

// File is what there is of the report.
type File string

// The states of a report file.
const (
	FileOK          File = "ok"
	FileAbsent      File = "absent"
	FileUnreadable  File = "unreadable"
	FileNotRegular  File = "not-regular" // It is a link, a folder, a pipe.
	FileStale       File = "stale"       // It is older than the spawn.
	FileEmpty       File = "empty"
	FileTooLarge    File = "too-large"
	FileInvalid     File = "invalid"      // It is no JSON, lacks what binds it, or holds what no critic writes.
	FileNotAReport  File = "not-a-report" // It is an envelope, a list, or has neither findings nor criteria.
	FileWrongTask   File = "wrong-task"
	FileWrongRound  File = "wrong-round"
	FileWrongCritic File = "wrong-critic"
	FileContradicts File = "contradicts" // Its verdict differs from its contents, or it differs from the envelope.
)
