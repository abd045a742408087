package adapter

import "net/http"

// Class says what kind of failure an agent's run met. It decides whether another
// attempt can help.
type Class string

// The classes.
const (
	// ClassRateLimit: too many requests for now.
	ClassRateLimit Class = "rate-limit"
	// ClassOverloaded: the model's server is busy, broken or out of reach.
	ClassOverloaded Class = "overloaded"
	// ClassQuota: what was paid for is used up, for hours or days.
	ClassQuota Class = "quota"
	// ClassAuth: there is no credential, or it is refused.
	ClassAuth Class = "auth"
	// ClassNotFound: there is no such model.
	ClassNotFound Class = "not-found"
	// ClassConfig: the CLI refuses its flags or settings.
	ClassConfig Class = "config"
	// ClassInput: the prompt is refused, such as one that is too long.
	ClassInput Class = "input"
	// ClassRefused: the model declines to answer.
	ClassRefused Class = "refused"
	// ClassLimit: a limit of turns, tokens or money that was set for the run.
	ClassLimit Class = "limit"
	// ClassTimeout: something took too long.
	ClassTimeout Class = "timeout"
	// ClassMalformed: the output is not what was promised.
	ClassMalformed Class = "malformed"
	// ClassCrashed: the run failed, and nothing says why.
	ClassCrashed Class = "crashed"
)

// Classes lists the classes that an adapter may name.
func Classes() []Class {
	return []Class{
		ClassRateLimit, ClassOverloaded, ClassQuota, ClassAuth, ClassNotFound, ClassConfig, ClassInput,
		ClassRefused, ClassLimit, ClassTimeout, ClassMalformed, ClassCrashed,
	}
}

// statusOverloaded is what some model APIs answer when they are busy. No
// standard names it.
const statusOverloaded = 529

// classOfStatus says what an HTTP status of a model API means, "" where it is no
// failure. It is the same for all CLIs, so it is no adapter's data.
func classOfStatus(status int) Class {
	switch status {
	case http.StatusTooManyRequests:
		return ClassRateLimit
	case http.StatusUnauthorized, http.StatusForbidden:
		return ClassAuth
	case http.StatusPaymentRequired:
		return ClassQuota
	case http.StatusNotFound:
		return ClassNotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return ClassTimeout
	case statusOverloaded:
		return ClassOverloaded
	}
	switch status / 100 {
	case 4:
		return ClassInput
	case 5:
		return ClassOverloaded
	default:
		return ""
	}
}
