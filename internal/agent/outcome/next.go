package outcome

import "time"

// Action is what to do after an attempt. Its text is part of the trail.
type Action string

// The actions.
const (
	// Done: there is something to use.
	Done Action = "done"
	// Retry: once more with the same adapter.
	Retry Action = "retry"
	// Fallback: on with the next adapter of the chain.
	Fallback Action = "fallback"
	// Stop: no further attempt can help, or may be made.
	Stop Action = "stop"
)

// Spent is what was tried already, and what is left.
type Spent struct {
	// Retries is how often the adapter at hand was asked again, and OfClass how
	// often of these after an error of the class that the verdict has.
	Retries, OfClass int
	// MaxRetries is how often an adapter may be asked again. Zero is never.
	MaxRetries int
	// Repeats is how often an attempt may be made again because the working tree changed
	// meanwhile. It is none of the retries.
	Repeats int
	// Fallbacks is how many adapters the chain still has.
	Fallbacks int
	// RetryAfter is how long the server asked to be left alone, 0 if it did not.
	RetryAfter time.Duration
	// Left is what is left of the time of the whole spawn. Without any, nothing
	// is tried.
	Left time.Duration
}

// Step is what Next decides.
type Step struct {
	Action Action
	// Pause is how long to wait before a Retry.
	Pause time.Duration
	// Note is to be appended to the prompt of a Retry, so that the agent learns
	// what was wrong. It is empty where the agent could not have done better.
	Note string
}

// Next says what to do after a verdict: a retry if the same may well succeed later,
// another adapter if this one will not but another may, and a stop if neither can help
// or no time is left. An attempt during which the working tree changed is repeated if
// nothing else was wrong, since others may have changed it. Else it is the last one: no
// attempt builds on the changes of an agent. A pause that the time is too short for is
// no retry. random returns a number in [0, 1).
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
	r := v.retryPolicy()
	if r.again(spent) && spent.RetryAfter < spent.Left {
		if pause := backoff(r.base, spent, random); pause < spent.Left {
			return Step{Action: Retry, Pause: pause, Note: v.note()}
		}
	}
	if r.otherwise == Fallback && spent.Fallbacks <= 0 {
		return Step{Action: Stop}
	}
	return Step{Action: r.otherwise}
}

// retryPolicy is what helps against a kind of error.
type retryPolicy struct {
	retries   retryLimit
	base      time.Duration // to wait before a retry
	otherwise Action        // without a retry, or after the last
}

// retryLimit is how often a kind of error is worth another attempt.
type retryLimit int

const (
	never retryLimit = iota
	once
	often // as often as the caller allows
)

// again reports whether a retry is left.
func (r retryPolicy) again(spent Spent) bool {
	return spent.Retries < spent.MaxRetries && (r.retries == often || r.retries == once && spent.OfClass == 0)
}

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
			// The same work would take as long again.
			return retryPolicy{otherwise: Fallback}
		}
		return retryPolicy{once, time.Second, Fallback}
	case Malformed:
		return retryPolicy{once, 0, Fallback}
	case Quota, Refused, NotFound, Auth, Config:
		// Another CLI has a login, a model and flags of its own.
		return retryPolicy{otherwise: Fallback}
	default:
		return retryPolicy{otherwise: Stop}
	}
}

// maxBackoff bounds what we wait of our own accord. What a server asks for is
// bounded by the time of the spawn.
const maxBackoff = time.Minute

// backoff returns how long to wait before a retry: what the server asked for,
// and on top a random part of a time that doubles with every retry, so that those
// who failed together do not come back together.
func backoff(base time.Duration, spent Spent, random func() float64) time.Duration {
	ceiling := base
	for range spent.Retries {
		ceiling = min(2*ceiling, maxBackoff)
	}
	return max(spent.RetryAfter, 0) + time.Duration(random()*float64(ceiling))
}
