package adapter

import (
	"net/http"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// Classes lists the classes that an adapter may name.
func Classes() []outcome.Class {
	return []outcome.Class{
		outcome.RateLimit, outcome.Overloaded, outcome.Quota, outcome.Auth, outcome.NotFound, outcome.Config, outcome.Input,
		outcome.Refused, outcome.Limit, outcome.Timeout, outcome.Malformed, outcome.Crashed,
	}
}

// statusOverloaded is a nonstandard status of some model APIs.
const statusOverloaded = 529

// classOfStatus is the class of an HTTP status of a model API, "" if it is not a failure.
func classOfStatus(status int) outcome.Class {
	switch status {
	case http.StatusTooManyRequests:
		return outcome.RateLimit
	case http.StatusUnauthorized, http.StatusForbidden:
		return outcome.Auth
	case http.StatusPaymentRequired:
		return outcome.Quota
	case http.StatusNotFound:
		return outcome.NotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return outcome.Timeout
	case statusOverloaded:
		return outcome.Overloaded
	}
	switch status / 100 {
	case 4:
		return outcome.Input
	case 5:
		return outcome.Overloaded
	default:
		return ""
	}
}
