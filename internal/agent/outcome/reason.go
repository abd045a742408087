package outcome

// Reason is the fact that decided a verdict, as a stable slug. If the agent's output
// reported an error, it is the class of that error.
type Reason string

// The reasons that are not a class. Those of an envelope, a report and an exit are the
// values of Envelope, File and Exit with a prefix.
const (
	Nothing Reason = ""

	ReasonStartFailed Reason = "start-failed"

	ReasonTimedOut        Reason = "timed-out"
	ReasonIdle            Reason = "idle"
	ReasonOutputLimit     Reason = "output-limit"
	ReasonBudget          Reason = "budget"
	ReasonHungAfterResult Reason = "hung-after-result"
	ReasonCancelled       Reason = "cancelled"
	ReasonLost            Reason = "lost"
	ReasonKilled          Reason = "killed"

	ReasonErrorUnknown Reason = "error-unknown"

	ReasonExitNonzero Reason = "exit-nonzero"
	ReasonExitSignal  Reason = "exit-signal"
	ReasonExitUnknown Reason = "exit-unknown"

	ReasonNoResult         Reason = "no-result"
	ReasonEmptyResult      Reason = "empty-result"
	ReasonUnreadableOutput Reason = "unreadable-output"

	ReasonDenied Reason = "denied"

	ReasonEnvelopeAbsent       Reason = "envelope-absent"
	ReasonEnvelopeInvalid      Reason = "envelope-invalid"
	ReasonEnvelopeAmbiguous    Reason = "envelope-ambiguous"
	ReasonEnvelopeWrongTask    Reason = "envelope-wrong-task"
	ReasonEnvelopeWrongRound   Reason = "envelope-wrong-round"
	ReasonEnvelopeWrongCritic  Reason = "envelope-wrong-critic"
	ReasonEnvelopeWrongRun     Reason = "envelope-wrong-run"
	ReasonEnvelopeInconsistent Reason = "envelope-inconsistent"
	ReasonEnvelopeError        Reason = "envelope-error"
	ReasonEnvelopeOutside      Reason = "envelope-elsewhere"

	ReasonReportAbsent      Reason = "report-absent"
	ReasonReportUnreadable  Reason = "report-unreadable"
	ReasonReportNotRegular  Reason = "report-not-regular"
	ReasonReportStale       Reason = "report-stale"
	ReasonReportEmpty       Reason = "report-empty"
	ReasonReportTooLarge    Reason = "report-too-large"
	ReasonReportInvalid     Reason = "report-invalid"
	ReasonReportNotAReport  Reason = "report-not-a-report"
	ReasonReportWrongTask   Reason = "report-wrong-task"
	ReasonReportWrongRound  Reason = "report-wrong-round"
	ReasonReportWrongCritic Reason = "report-wrong-critic"
	ReasonReportContradicts Reason = "report-contradicts"

	ReasonTreeChanged Reason = "tree-changed"
)

// Message describes the reason in one sentence without a full stop. It is empty for
// Nothing and for unknown reasons.
func (r Reason) Message() string {
	switch r {
	case ReasonStartFailed:
		return "the agent's program could not be started"
	case ReasonTimedOut:
		return "the agent was stopped when its time was over"
	case ReasonIdle:
		return "the agent was stopped because it wrote nothing for too long"
	case ReasonOutputLimit:
		return "the agent was stopped because it wrote too much"
	case ReasonBudget:
		return "the agent was stopped because it used more than its budget"
	case ReasonHungAfterResult:
		return "the agent said it was done and did not end"
	case ReasonCancelled:
		return "the spawn was cancelled"
	case ReasonKilled:
		return "the agent was stopped for a reason that is not known"
	case ReasonErrorUnknown:
		return "the agent reports an error that is not known"
	case ReasonExitNonzero:
		return "the agent's program ended with an exit code other than 0"
	case ReasonExitSignal:
		return "the agent's program ended by a signal"
	case ReasonExitUnknown:
		return "it is not known how the agent's program ended"
	case ReasonNoResult:
		return "the agent's output has no final message"
	case ReasonEmptyResult:
		return "the agent's final message is empty"
	case ReasonUnreadableOutput:
		return "the agent's output does not have the form that its adapter promises"
	case ReasonDenied:
		return "the agent was refused a tool"
	case ReasonEnvelopeAbsent:
		return "the final message holds no envelope: an object with report_path and blockers_count"
	case ReasonEnvelopeInvalid:
		return "the envelope in the final message is cut short, or a field is missing, duplicated or of another type"
	case ReasonEnvelopeAmbiguous:
		return "the final message holds several envelopes that differ"
	case ReasonEnvelopeWrongTask:
		return "the envelope is about another task"
	case ReasonEnvelopeWrongRound:
		return "the envelope is about another round"
	case ReasonEnvelopeWrongCritic:
		return "the envelope names another critic"
	case ReasonEnvelopeWrongRun:
		return "the envelope names another run"
	case ReasonEnvelopeInconsistent:
		return "the envelope says passed and counts blockers"
	case ReasonEnvelopeError:
		return "the envelope says that the critic failed, or that there is no report"
	case ReasonEnvelopeOutside:
		return "the envelope names another path than the one the report was to be written to"
	case ReasonReportAbsent:
		return "there is no report at the path it was to be written to"
	case ReasonReportUnreadable:
		return "the report cannot be read"
	case ReasonReportNotRegular:
		return "the report is not a regular file"
	case ReasonReportStale:
		return "the report is older than the spawn"
	case ReasonReportEmpty:
		return "the report is empty"
	case ReasonReportTooLarge:
		return "the report is too large"
	case ReasonReportInvalid:
		return "the report is not one JSON value, or a field is missing, duplicated or of another type"
	case ReasonReportNotAReport:
		return "the report is an envelope, a list, or has neither findings nor criteria"
	case ReasonReportWrongTask:
		return "the report is about another task"
	case ReasonReportWrongRound:
		return "the report is about another round"
	case ReasonReportWrongCritic:
		return "the report is another critic's"
	case ReasonReportContradicts:
		return "the report's verdict differs from its contents, or the envelope's verdict or blockers_count from the report"
	case ReasonTreeChanged:
		return "the working tree changed while the agent ran, by the agent or by something else"
	default:
		return Class(r).message()
	}
}

// message is Message for the reasons that are classes.
func (c Class) message() string {
	switch c {
	case RateLimit:
		return "the agent reports that it has made too many requests"
	case Overloaded:
		return "the agent reports that the model's server is overloaded or unreachable"
	case Quota:
		return "the agent reports that its quota is used up"
	case Auth:
		return "the agent reports that it is not logged in, or not allowed"
	case NotFound:
		return "the agent reports that there is no such model"
	case Config:
		return "the agent does not accept its flags or its configuration"
	case Input:
		return "the agent does not accept the prompt"
	case Refused:
		return "the model refused"
	case Limit:
		return "the agent reports that a cap on turns, tokens or money is reached"
	case Timeout:
		return "the agent reports that the model's server did not answer in time"
	case Malformed:
		return "the agent reports that the answer is not as it was asked for"
	case Crashed:
		return "the agent reports that it failed"
	case Lost:
		return "the spawner was killed, and nobody saw how the agent ended"
	default:
		return ""
	}
}

// note tells the agent what was wrong with its last attempt, if it could do better.
func (v Verdict) note() string {
	if v.Class != Malformed && v.Reason != ReasonTreeChanged {
		return ""
	}
	note := "An earlier attempt at this task was not accepted: " + v.Reason.Message() + "."
	switch v.Reason {
	case ReasonTreeChanged:
		note += " Review the tree as it is now, and write nothing but your report."
	case ReasonDenied:
		note += " Do the task with the tools that you have, and ask for no others."
	}
	return note
}
