// Package outcome judges what an agent left behind when its process had ended.
//
// It is one pure function over small enumerations, Judge, so that a test can
// walk all there is; docs/verdict.md has the table. Neither an exit code of 0,
// nor a success in the output, nor the agent's own word counts alone, and
// every contradiction is an error, never a clean review. Next says what to do
// after a verdict. ReadEnvelope and CheckReport gather the facts that a
// critic's report adds.
//
// The package knows neither processes nor adapters: the spawner tells it what
// they saw. The order of judgement is that of the known CLIs' contracts: each
// has been seen to end with 0, or to report success, when nothing was done.
package outcome

// Outcome is what a spawn comes to. Its text is part of trail and metrics.
type Outcome string

// The outcomes.
const (
	// Clean: the critic's report is whole, and holds nothing.
	Clean Outcome = "clean"
	// Findings: the critic's report is whole, and holds findings or criteria
	// that are not satisfied.
	Findings Outcome = "findings"
	// OK: an agent that owes no report has answered.
	OK Outcome = "ok"
	// CriticError: an agent that owes a report has not given one to rely on.
	CriticError Outcome = "critic-error"
	// Failed: an agent that owes no report has not answered.
	Failed Outcome = "failed"
)

// Class is a kind of error by what helps against it. The spawner takes it from
// the agent's output, and Judge from everything else.
type Class string

// The classes.
const (
	// NoClass: there is no error, or none that another attempt could mend.
	NoClass    Class = ""
	RateLimit  Class = "rate-limit" // Too many requests for the moment.
	Overloaded Class = "overloaded" // The model's server cannot, for the moment.
	Quota      Class = "quota"      // What was paid for is used up.
	Auth       Class = "auth"       // No login, or one without the right.
	NotFound   Class = "not-found"  // There is no such model, or no such program.
	Config     Class = "config"     // The CLI does not take what it was given.
	Input      Class = "input"      // The prompt is not accepted, by its length for one.
	Refused    Class = "refused"    // The model will not.
	Limit      Class = "limit"      // A cap on turns, tokens, bytes or money was reached.
	Timeout    Class = "timeout"    // It took too long, or fell silent.
	Malformed  Class = "malformed"  // What was promised is not there, or not as promised.
	Crashed    Class = "crashed"    // The process ended badly.
	Lost       Class = "lost"       // Nobody saw how it ended.
)

// Verdict is what Judge makes of the facts.
type Verdict struct {
	Outcome Outcome
	// Reason is the fact that decided, empty where there is nothing to object.
	Reason Reason
	// Class is the kind of error.
	Class Class
	// Changed says that the working tree differs, whichever fact decided.
	Changed bool
}

// Good reports whether what the agent gave can be used: its outcome is Clean,
// Findings or OK.
func (v Verdict) Good() bool {
	return v.Outcome == Clean || v.Outcome == Findings || v.Outcome == OK
}
