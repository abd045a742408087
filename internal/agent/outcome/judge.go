package outcome

// Judge examines the facts in order of reliability: our own actions, errors in the output, the
// exit of the process, and its results. The first objection decides. Without an objection, the
// contents of the report decide or, if no report is expected, the existence of an answer.
//
// A refused tool is an objection even to a complete report: the critic might have seen more
// with the tool. It is not an objection to an agent that edited files, since verification and
// review judge the edits. For such an agent, forbidden changes take precedence over its output
// and its exit.
func Judge(f Facts) Verdict {
	v := Verdict{Changed: f.Changed && !f.Edits}
	v.Reason, v.Class = f.objection()
	switch {
	case v.Reason == ReasonNoChange:
		v.Outcome = NoChange
	case v.Reason != Nothing && f.Edits:
		v.Outcome, v.Partial = Failed, f.Tree == TreeEdited
	case f.Edits:
		v.Outcome = Edited
	case v.Reason != Nothing && f.Report:
		v.Outcome = CriticError
	case v.Reason != Nothing:
		v.Outcome = Failed
	case !f.Report:
		v.Outcome = OK
	case f.Passed:
		v.Outcome = Clean
	default:
		v.Outcome = Findings
	}
	return v
}

func (f Facts) objection() (Reason, Class) {
	switch {
	case !f.Started && f.Killed != KilledCancelled: // A cancelled run may not have started.
		return ReasonStartFailed, Config
	case f.Edits && f.Started && f.treeReason() != Nothing:
		return f.treeReason(), NoClass
	case f.Killed != NotKilled:
		r := reasonOr(string(f.Killed), ReasonKilled)
		return r, r.endClass()
	case f.Failure != NoClass:
		if Reason(f.Failure).Message() == "" {
			return ReasonErrorUnknown, NoClass
		}
		return Reason(f.Failure), f.Failure
	case f.Exit != ExitZero:
		return reasonOr("exit-"+string(f.Exit), ReasonExitUnknown), Crashed
	case f.Text == TextAbsent:
		return ReasonNoResult, Malformed
	case f.Text == TextEmpty:
		return ReasonEmptyResult, Malformed
	case f.Text != TextPresent:
		return ReasonUnreadableOutput, Malformed
	case f.Denials && !(f.Edits && f.Tree == TreeEdited):
		return ReasonDenied, Malformed
	case f.Report && f.Envelope != EnvelopeOK:
		return reasonOr("envelope-"+string(f.Envelope), ReasonEnvelopeInvalid), Malformed
	case f.Report && f.File != FileOK:
		return reasonOr("report-"+string(f.File), ReasonReportInvalid), Malformed
	case f.Rejected && f.Report:
		return ReasonReportInvalid, Malformed
	case f.Rejected:
		return ReasonUnreadableOutput, Malformed
	case f.Edits && f.Tree != TreeEdited:
		return ReasonNoChange, Malformed
	case f.Changed && !f.Edits:
		return ReasonTreeChanged, NoClass
	default:
		return Nothing, NoClass
	}
}

// treeReason returns the reason why the tree of an agent that edits cannot be used, or
// Nothing. After a run that was cancelled or lost, the tree may be unknown.
func (f Facts) treeReason() Reason {
	switch f.Tree {
	case TreeEdited, TreeUnchanged:
		return Nothing
	case TreeGone:
		return ReasonTreeGone
	case TreeGitChanged:
		return ReasonGitChanged
	case TreeProtectedChanged:
		return ReasonProtectedChanged
	}
	if f.Killed == KilledCancelled || f.Killed == KilledLost {
		return Nothing
	}
	return ReasonTreeUnreadable
}

// reasonOr returns the reason with this text, or the reason otherwise if the text is not one.
func reasonOr(text string, otherwise Reason) Reason {
	if r := Reason(text); r.Message() != "" {
		return r
	}
	return otherwise
}

// endClass returns the class of a run that we ended for this reason.
func (r Reason) endClass() Class {
	switch r {
	case ReasonTimedOut, ReasonIdle, ReasonHungAfterResult:
		return Timeout
	case ReasonOutputLimit, ReasonBudget:
		return Limit
	case ReasonLost:
		return Lost
	default:
		return NoClass
	}
}
