// Package outcome judges the result of an agent's run.
//
// Judge is a pure function over small enumerations, so that a test can enumerate all
// combinations; docs/verdict.md has the table. An exit code of 0, a success in the output or
// the agent's own claim is never enough, and every contradiction is an error, never a clean
// review. Next decides on the step after a verdict. ReadEnvelope and CheckReport gather the
// facts about a critic's report.
//
// The order of the facts follows from the known CLIs: each has been seen to exit with 0, or to
// report success, without having done anything.
package outcome

// Outcome is the result of a spawn, as it is written to the run log and to metrics.
type Outcome string

// The outcomes.
const (
	Clean       Outcome = "clean"        // The critic's report is complete and has no findings.
	Findings    Outcome = "findings"     // The critic's report is complete and has findings or unsatisfied criteria.
	OK          Outcome = "ok"           // An agent without a report has answered.
	Edited      Outcome = "edited"       // An agent that may edit changed only its working tree.
	NoChange    Outcome = "no-change"    // An agent that may edit succeeded without a change.
	CriticError Outcome = "critic-error" // There is no reliable report.
	Failed      Outcome = "failed"       // An agent without a report has not answered.
)

// Class groups errors by their remedies. The spawner takes it from the agent's output, and
// Judge from everything else.
type Class string

// The classes.
const (
	NoClass    Class = ""           // There is no error, or another attempt cannot help.
	RateLimit  Class = "rate-limit" // Too many requests for now.
	Overloaded Class = "overloaded" // The model's server is busy, broken or unreachable.
	Quota      Class = "quota"      // The paid amount is used up.
	Auth       Class = "auth"       // There is no login, or it lacks the permission.
	NotFound   Class = "not-found"  // There is no such model or program.
	Config     Class = "config"     // The CLI refuses its flags or settings.
	Input      Class = "input"      // The prompt is refused, for example because it is too long.
	Refused    Class = "refused"    // The model declines.
	Limit      Class = "limit"      // A limit on turns, tokens, bytes or money was reached.
	Timeout    Class = "timeout"    // It took too long, or stopped writing.
	Malformed  Class = "malformed"  // The output or the report is missing or invalid.
	Crashed    Class = "crashed"    // The process failed.
	Lost       Class = "lost"       // The spawner was killed.
)

// Classes returns all classes but NoClass.
func Classes() []Class {
	return []Class{RateLimit, Overloaded, Quota, Auth, NotFound, Config, Input, Refused, Limit, Timeout, Malformed, Crashed, Lost}
}

// Verdict is the result of Judge.
type Verdict struct {
	Outcome
	Reason Reason
	Class  Class
	// Changed is set if the working tree changed although the agent was not to edit it,
	// whichever fact decided.
	Changed bool
	// Partial is set if an agent that edits failed, and its working tree has edits.
	Partial bool
}

// Good reports whether the agent's answer or report can be used.
func (o Outcome) Good() bool { return o == Clean || o == Findings || o == OK || o == Edited }
