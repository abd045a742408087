package adapter

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// maxMessage bounds a failure's message, in bytes.
const maxMessage = 4 << 10

type errorRule struct {
	Stream string `field:"stream" words:"stdout,stderr"`
	Where  where  `field:"where,required"`
	// ClearedBy chooses events that cancel the error. It may be nil.
	ClearedBy where `field:"cleared_by"`
	// Class overrides all other rules if it is set.
	Class      outcome.Class `field:"class" form:"class"`
	Message    paths         `field:"message"`
	Status     paths         `field:"status"`
	Kind       paths         `field:"kind"`
	RetryAfter paths         `field:"retry_after"`
	// StatusMatch and RetryMatch find the status and the time to wait in the message.
	StatusMatch groupFinder `field:"status_match"`
	RetryMatch  groupFinder `field:"retry_match"`
}

type foundError struct {
	Failure
	kinds []string
}

func (r errorRule) find(e event) *foundError {
	f := &foundError{Failure: Failure{Class: r.Class, Message: strings.Join(r.Message.scalars(e), "; ")}, kinds: r.Kind.scalars(e)}
	f.Status = status(firstOf(r.Status.scalars(e), r.StatusMatch, f.Message))
	f.RetryAfter = wait(firstOf(r.RetryAfter.scalars(e), r.RetryMatch, f.Message))
	f.Message = excerpt(f.Message, maxMessage)
	return f
}

// scalars returns all texts and numbers at the paths.
func (p paths) scalars(e event) []string {
	var all []string
	for _, v := range p.values(e) {
		if t, ok := scalar(v); ok {
			all = append(all, t)
		}
	}
	return all
}

// firstOf returns the first of the values, or otherwise the group that the form finds in the
// message.
func firstOf(values []string, form groupFinder, message string) string {
	if len(values) > 0 {
		return values[0]
	}
	if form.Regexp != nil {
		if m := form.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}

// status parses an HTTP status of an error. It returns 0 for other texts.
func status(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// maxWait is the longest time to wait that is believed.
const maxWait = 366 * 24 * time.Hour

var waitPart = lazy.Regexp(`^[\s,]*(?:and\s+)?(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]*)`)

// wait parses a time to wait: seconds, or numbers with units, such as 1.5s, 5h32m or
// "3 days 4 hours".
func wait(text string) time.Duration {
	total := 0.0
	for rest := strings.ToLower(strings.TrimSpace(text)); rest != ""; {
		m := waitPart().FindStringSubmatch(rest)
		if m == nil || unit(m[2]) == 0 {
			return 0
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0
		}
		total += n * float64(unit(m[2]))
		rest = rest[len(m[0]):]
	}
	if total > float64(maxWait) {
		return 0
	}
	return time.Duration(total)
}

// unit returns the unit with a name, 0 for an unknown name.
func unit(name string) time.Duration {
	switch name {
	case "ms":
		return time.Millisecond
	case "", "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	default:
		return 0
	}
}

// classRule classifies an error by its kind or its message. Exactly one of Kind and Match
// is set.
type classRule struct {
	Kind  wholeFinder   `field:"kind"`
	Match finder        `field:"match"`
	Class outcome.Class `field:"class,required" form:"class"`
}

// classify sets an error's class to that of its rule, or else of the first class rule that
// matches, or else of its status, or else crashed.
func (a *spec) classify(f *foundError) *Failure {
	f.Class = cmp.Or(f.Class, classOf(a.Classes, f), classOfStatus(f.Status), outcome.Crashed)
	return &f.Failure
}

// statusIn returns the last HTTP status in standard error, or 0.
func (a *spec) statusIn(errors []byte) int {
	if a.StderrStatus.Regexp == nil {
		return 0
	}
	found := a.StderrStatus.FindAllSubmatch(errors, -1)
	if len(found) == 0 {
		return 0
	}
	return status(string(found[len(found)-1][1]))
}

// classOf returns the class of the first rule that matches, or "".
func classOf(all []classRule, f *foundError) outcome.Class {
	for _, c := range all {
		if c.Match.Regexp != nil && c.Match.MatchString(f.Message) || c.Kind.Regexp != nil && slices.ContainsFunc(f.kinds, c.Kind.MatchString) {
			return c.Class
		}
	}
	return ""
}

// statusOverloaded is a nonstandard status of some model APIs.
const statusOverloaded = 529

// classOfStatus returns the class of an HTTP status of a model API, "" if it is not a failure.
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
