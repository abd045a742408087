package outcome

// Reason is the fact that decided a verdict, as a stable slug. Where the agent's
// output named its error, it is the text of the error's class.
type Reason string

// The reasons that are no class of error.
const (
	// Nothing: there is nothing to object to.
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
	ReasonEnvelopeElsewhere    Reason = "envelope-elsewhere"

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
