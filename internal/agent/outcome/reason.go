package outcome

import "fmt"

// Reason is the fact that decided a verdict, as a stable slug. If the agent's output reported
// an error, it is the class of the error. For an envelope, a report or an exit it is the value
// of Envelope, File or Exit with a prefix.
type Reason string

// The reasons that have a name in the code. messages has all reasons.
const (
	Nothing                Reason = ""
	ReasonStartFailed      Reason = "start-failed"
	ReasonTimedOut         Reason = "timed-out"
	ReasonIdle             Reason = "idle"
	ReasonOutputLimit      Reason = "output-limit"
	ReasonBudget           Reason = "budget"
	ReasonHungAfterResult  Reason = "hung-after-result"
	ReasonCancelled        Reason = "cancelled"
	ReasonLost             Reason = "lost"
	ReasonKilled           Reason = "killed"
	ReasonErrorUnknown     Reason = "error-unknown"
	ReasonExitUnknown      Reason = "exit-unknown"
	ReasonNoResult         Reason = "no-result"
	ReasonEmptyResult      Reason = "empty-result"
	ReasonUnreadableOutput Reason = "unreadable-output"
	ReasonDenied           Reason = "denied"
	ReasonEnvelopeInvalid  Reason = "envelope-invalid"
	ReasonReportStale      Reason = "report-stale"
	ReasonReportInvalid    Reason = "report-invalid"
	ReasonTreeChanged      Reason = "tree-changed"
	ReasonTreeGone         Reason = "tree-gone"
	ReasonTreeUnreadable   Reason = "tree-unreadable"
	ReasonGitChanged       Reason = "git-changed"
	ReasonProtectedChanged Reason = "protected-changed"
	ReasonNoChange         Reason = "no-change"
)

// Message describes the reason in one sentence without a full stop. It is empty for
// Nothing and for unknown reasons.
func (r Reason) Message() string { return messages[r] }

var messages = map[Reason]string{
	ReasonStartFailed:       "the agent's program could not be started",
	ReasonTimedOut:          "the agent was stopped when its time was over",
	ReasonIdle:              "the agent was stopped because it wrote nothing for too long",
	ReasonOutputLimit:       fmt.Sprintf("the agent was stopped because it wrote more than %d MiB", MaxOutput>>20),
	ReasonBudget:            "the agent was stopped because it used more than its budget",
	ReasonHungAfterResult:   "the agent said it was done and did not end",
	ReasonCancelled:         "the spawn was cancelled",
	ReasonKilled:            "the agent was stopped for a reason that is not known",
	ReasonErrorUnknown:      "the agent reports an error that is not known",
	"exit-nonzero":          "the agent's program ended with an exit code other than 0",
	"exit-signal":           "the agent's program ended by a signal",
	ReasonExitUnknown:       "it is not known how the agent's program ended",
	ReasonNoResult:          "the agent's output has no final message",
	ReasonEmptyResult:       "the agent's final message is empty",
	ReasonUnreadableOutput:  "the agent's output does not have the form that its adapter promises",
	ReasonDenied:            "the agent was refused a tool",
	"envelope-absent":       "the final message holds no envelope: an object with report_path and blockers_count",
	ReasonEnvelopeInvalid:   "the envelope in the final message is cut short, or a field is missing, duplicated or of another type",
	"envelope-ambiguous":    "the final message holds several envelopes that differ",
	"envelope-wrong-task":   "the envelope is about another task",
	"envelope-wrong-round":  "the envelope is about another round",
	"envelope-wrong-run":    "the envelope names another run",
	"envelope-inconsistent": "the envelope says passed and counts blockers",
	"envelope-error":        "the envelope says that the critic failed, or that there is no report",
	"envelope-elsewhere":    "the envelope names another path than the one the report was to be written to",
	"report-absent":         "there is no report at the path it was to be written to",
	"report-unreadable":     "the report cannot be read",
	"report-not-regular":    "the report is not a regular file",
	ReasonReportStale:       "the report is older than the spawn",
	"report-empty":          "the report is empty",
	"report-too-large":      "the report is too large",
	ReasonReportInvalid:     "the report is not one JSON value, or a field is missing, duplicated or of another type",
	"report-not-a-report":   "the report is an envelope, a list, or has neither findings nor criteria",
	"report-wrong-task":     "the report is about another task",
	"report-wrong-round":    "the report is about another round",
	"report-wrong-critic":   "the report names another critic than the envelope",
	"report-contradicts":    "the report's verdict differs from its contents, or the envelope's verdict or blockers_count from the report",
	ReasonTreeChanged:       "the working tree changed while the agent ran, by the agent or by something else",
	ReasonTreeGone:          "the agent's working tree is gone",
	ReasonTreeUnreadable:    "the agent's working tree cannot be read, or git cannot commit its files",
	ReasonGitChanged:        "git's own records of the working tree changed: a commit, a branch, a setting, a remote or a hook",
	ReasonProtectedChanged:  "a file changed that affects later rounds: of the configuration, a policy, a plugin, an agent or .gitmodules",
	ReasonNoChange:          "the agent changed no file",

	Reason(RateLimit):  "the agent reports that it has made too many requests",
	Reason(Overloaded): "the agent reports that the model's server is overloaded or unreachable",
	Reason(Quota):      "the agent reports that its quota is used up",
	Reason(Auth):       "the agent reports that it is not logged in, or not allowed",
	Reason(NotFound):   "the agent reports that there is no such model",
	Reason(Config):     "the agent does not accept its flags or its configuration",
	Reason(Input):      "the agent does not accept the prompt",
	Reason(Refused):    "the model refused",
	Reason(Limit):      "the agent reports that a cap on turns, tokens or money is reached",
	Reason(Timeout):    "the agent reports that the model's server did not answer in time",
	Reason(Malformed):  "the agent reports that the answer is not as it was asked for",
	Reason(Crashed):    "the agent reports that it failed",
	Reason(Lost):       "the spawner was killed, and it is not known how the agent ended",
}

// note tells the agent what was wrong with its last attempt, if it was at fault, and whether
// the working tree has edits of that attempt.
func (v Verdict) note() string {
	if v.Class != Malformed && v.Reason != ReasonTreeChanged && !v.Partial {
		return ""
	}
	note := "An earlier attempt at this task was not accepted: " + v.Reason.Message() + "."
	switch {
	case v.Reason == ReasonTreeChanged:
		note += " Review the tree as it is now, and write nothing but your report."
	case v.Reason == ReasonDenied:
		note += " Do the task with the tools that you have, and ask for no others."
	case v.Partial:
		note += " The working tree is as that attempt left it: check its edits, and continue from there."
	}
	return note
}
