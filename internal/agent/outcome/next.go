package outcome

import (
	"math"
	"time"
)

// Action is the action after an attempt, as it is written to the run log.
type Action string

// The actions.
const (
	Done     Action = "done"     // The result can be used.
	Retry    Action = "retry"    // Try the same adapter again.
	Fallback Action = "fallback" // Try the next adapter of the chain.
	Stop     Action = "stop"     // No further attempt can help, or is allowed.
)

// Continues reports whether another attempt follows.
func (a Action) Continues() bool { return a == Retry || a == Fallback }

// Spent has the numbers of earlier attempts, and the remaining limits.
type Spent struct {
	// Retries counts the retries of the current adapter, and OfClass the retries after an
	// error of the verdict's class. MaxRetries is the limit for an adapter.
	Retries, OfClass, MaxRetries int
	// Repeats is the remaining number of attempts that may be repeated because the working
	// tree changed. Repeats are not retries.
	Repeats int
	// Fallbacks is the number of adapters that remain in the chain.
	Fallbacks int
	// RetryAfter is the time that the server asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// Left is the remaining time of the job.
	Left time.Duration
}

// Step is the result of Next.
type Step struct {
	Action Action
	// Pause is the time to wait before a Retry.
	Pause time.Duration
	// Note tells the agent what was wrong. It is appended to the prompt of a Retry, or of the
	// Fallback after partial edits. It is empty if the agent was not at fault.
	Note string
}

// Next returns the step after a verdict: retry if the same adapter may succeed later, try
// another adapter if only that may help, and stop if neither can help or the time is over. If
// the working tree changed and there is no other objection, the attempt is repeated, since
// another process may have changed the tree. With another objection it is the last attempt,
// because an attempt must not start from changes of an agent. An agent that is to edit
// continues from the edits of the previous attempt, unless that made forbidden changes. random
// returns a number in [0, 1).
func Next(v Verdict, spent Spent, random func() float64) Step {
	if v.Good() {
		return Step{Action: Done}
	}
	if v.Reason == ReasonTreeChanged && spent.Repeats > 0 && spent.Left > 0 {
		return Step{Action: Retry, Note: v.note()}
	}
	if v.Changed || spent.Left <= 0 {
		return Step{Action: Stop}
	}
	p := v.retryPolicy()
	if spent.Retries < spent.MaxRetries && spent.OfClass < p.retries && spent.RetryAfter < spent.Left {
		if pause := backoff(p.base, spent, random); pause < spent.Left {
			return Step{Action: Retry, Pause: pause, Note: v.note()}
		}
	}
	if p.otherwise == Fallback && spent.Fallbacks <= 0 {
		return Step{Action: Stop}
	}
	step := Step{Action: p.otherwise}
	if v.Partial && step.Action == Fallback {
		step.Note = v.note()
	}
	return step
}

// retryPolicy is the remedy for a class of errors.
type retryPolicy struct {
	retries   int           // of the class; Spent.MaxRetries applies too
	base      time.Duration // the first pause before a retry
	otherwise Action        // if there is no retry, or after the last one
}

const once, often = 1, math.MaxInt

func (v Verdict) retryPolicy() retryPolicy {
	switch v.Class {
	case RateLimit:
		return retryPolicy{often, 5 * time.Second, Fallback}
	case Overloaded:
		return retryPolicy{often, 2 * time.Second, Fallback}
	case Crashed:
		return retryPolicy{often, time.Second, Fallback}
	case Timeout:
		if v.Reason == ReasonTimedOut {
			return retryPolicy{otherwise: Fallback} // The same work would take as long again.
		}
		return retryPolicy{once, time.Second, Fallback}
	case Malformed:
		return retryPolicy{once, 0, Fallback}
	case Quota, Refused, NotFound, Auth, Config:
		return retryPolicy{otherwise: Fallback} // Another CLI has its own login, models and flags.
	default:
		return retryPolicy{otherwise: Stop}
	}
}

// maxBackoff bounds our own pauses. A pause that a server asks for is bounded by the job's
// time.
const maxBackoff = time.Minute

// backoff returns the pause that the server asked for, plus a random part of a time that
// doubles with every retry.
func backoff(base time.Duration, spent Spent, random func() float64) time.Duration {
	ceiling := base
	for range spent.Retries {
		ceiling = min(2*ceiling, maxBackoff)
	}
	return max(spent.RetryAfter, 0) + time.Duration(random()*float64(ceiling))
}
