package outcome

// Judge weighs the facts in the order in which they can be trusted: what we did
// ourselves, what the output admits, how the process ended, what it left. The
// first objection wins. Where there is none, the contents of the report decide,
// or, where none is owed, that there is an answer.
//
// A tool that was refused outweighs a report that looks whole: nobody knows what
// the critic would have seen with it, and a review that could not look is none.
func Judge(f Facts) Verdict {
	v := Verdict{Changed: f.Changed}
	v.Reason, v.Class = objection(f)
	switch {
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

// objection returns the first objection to the facts and its class.
func objection(f Facts) (Reason, Class) {
	if !f.Started && f.Killed != KilledCancelled { // What is cancelled may not have begun.
		return ReasonStartFailed, Config
	}
	if r, c := f.Killed.objection(); r != Nothing {
		return r, c
	}
	if r, c := f.Failure.objection(); r != Nothing {
		return r, c
	}
	if r := f.Exit.objection(); r != Nothing {
		return r, Crashed
	}
	if r := f.Text.objection(); r != Nothing {
		return r, Malformed
	}
	if f.Denials {
		return ReasonDenied, Malformed
	}
	if f.Report {
		if r := f.Envelope.objection(); r != Nothing {
			return r, Malformed
		}
		if r := f.File.objection(); r != Nothing {
			return r, Malformed
		}
	}
	if f.Changed {
		return ReasonTreeChanged, NoClass
	}
	return Nothing, NoClass
}

func (k EndCause) objection() (Reason, Class) {
	switch k {
	case NotKilled:
		return Nothing, NoClass
	case KilledTimedOut:
		return ReasonTimedOut, Timeout
	case KilledIdle:
		return ReasonIdle, Timeout
	case KilledOutputLimit:
		return ReasonOutputLimit, Limit
	case KilledBudget:
		return ReasonBudget, Limit
	case KilledHungAfterResult:
		return ReasonHungAfterResult, Timeout
	case KilledCancelled:
		return ReasonCancelled, NoClass
	case KilledLost:
		return ReasonLost, Lost
	default:
		return ReasonKilled, NoClass
	}
}

func (c Class) objection() (Reason, Class) {
	switch c {
	case NoClass:
		return Nothing, NoClass
	case RateLimit, Overloaded, Quota, Auth, NotFound, Config, Input, Refused, Limit, Timeout, Malformed, Crashed, Lost:
		return Reason(c), c
	default:
		return ReasonErrorUnknown, NoClass
	}
}

func (e Exit) objection() Reason {
	switch e {
	case ExitZero:
		return Nothing
	case ExitNonzero:
		return ReasonExitNonzero
	case ExitSignal:
		return ReasonExitSignal
	default:
		return ReasonExitUnknown
	}
}

func (t Text) objection() Reason {
	switch t {
	case TextPresent:
		return Nothing
	case TextEmpty:
		return ReasonEmptyResult
	case TextAbsent:
		return ReasonNoResult
	default:
		return ReasonUnreadableOutput
	}
}

func (e Envelope) objection() Reason {
	switch e {
	case EnvelopeOK:
		return Nothing
	case EnvelopeAbsent:
		return ReasonEnvelopeAbsent
	case EnvelopeAmbiguous:
		return ReasonEnvelopeAmbiguous
	case EnvelopeWrongTask:
		return ReasonEnvelopeWrongTask
	case EnvelopeWrongRound:
		return ReasonEnvelopeWrongRound
	case EnvelopeWrongCritic:
		return ReasonEnvelopeWrongCritic
	case EnvelopeWrongRun:
		return ReasonEnvelopeWrongRun
	case EnvelopeInconsistent:
		return ReasonEnvelopeInconsistent
	case EnvelopeError:
		return ReasonEnvelopeError
	case EnvelopeElsewhere:
		return ReasonEnvelopeElsewhere
	default:
		return ReasonEnvelopeInvalid
	}
}

func (f File) objection() Reason {
	switch f {
	case FileOK:
		return Nothing
	case FileAbsent:
		return ReasonReportAbsent
	case FileUnreadable:
		return ReasonReportUnreadable
	case FileNotRegular:
		return ReasonReportNotRegular
	case FileStale:
		return ReasonReportStale
	case FileEmpty:
		return ReasonReportEmpty
	case FileTooLarge:
		return ReasonReportTooLarge
	case FileNotAReport:
		return ReasonReportNotAReport
	case FileWrongTask:
		return ReasonReportWrongTask
	case FileWrongRound:
		return ReasonReportWrongRound
	case FileWrongCritic:
		return ReasonReportWrongCritic
	case FileContradicts:
		return ReasonReportContradicts
	default:
		return ReasonReportInvalid
	}
}
