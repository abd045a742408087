package adapter

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// MaxMessage bounds a failure's message, in bytes.
const MaxMessage = 4 << 10

// errorRule finds an error.
type errorRule struct {
	// errors says that it is in standard error instead of the output.
	errors bool
	where  where
	// cleared chooses events that cancel the error. It may be nil.
	cleared where
	// class overrides all other rules if it is set.
	class                        outcome.Class
	message, status, kind, after []path
	// statusForm and afterForm find the status and the time to wait in the message, as
	// their first groups.
	statusForm, afterForm *regexp.Regexp
}

// failed is an error that a rule has found.
type failed struct {
	Failure
	kinds []string
}

// find returns the error in an event.
func (r errorRule) find(e event) *failed {
	f := &failed{Failure: Failure{Class: r.class, Message: strings.Join(scalars(r.message, e), "; ")}}
	f.kinds = scalars(r.kind, e)
	f.Status = status(firstOf(scalars(r.status, e), r.statusForm, f.Message))
	f.RetryAfter = wait(firstOf(scalars(r.after, e), r.afterForm, f.Message))
	f.Message = excerpt(f.Message, MaxMessage)
	return f
}

// scalars returns all texts and numbers at the paths.
func scalars(paths []path, e event) []string {
	var all []string
	for _, p := range paths {
		for _, v := range p.values(e) {
			if t, ok := scalar(v); ok {
				all = append(all, t)
			}
		}
	}
	return all
}

// firstOf is the first of the values, else what the form finds in the message.
func firstOf(values []string, form *regexp.Regexp, message string) string {
	if len(values) > 0 {
		return values[0]
	}
	if form != nil {
		if m := form.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}

// status parses an HTTP status of an error, 0 for others.
func status(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// maxWait bounds a time to wait.
const maxWait = 366 * 24 * time.Hour

// wait parses a time to wait: seconds, or a number with a unit.
func wait(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 || d > maxWait {
		return 0
	}
	return d
}

// classRule classifies an error by its kind or its message. Exactly one of the patterns
// is set.
type classRule struct {
	kind, match *regexp.Regexp
	class       outcome.Class
}

// exit is the meaning of an exit code: an HTTP status or a class.
type exit struct {
	status int
	class  outcome.Class
}

// classify sets an error's class: that of its rule, else of the first class rule that
// matches, else of its status, else crashed.
func (r rules) classify(f *failed) *Failure {
	f.Class = cmp.Or(f.Class, classOf(r.classes, f), classOfStatus(f.Status), outcome.Crashed)
	return &f.Failure
}

// classifySilent classifies a failed run that left only standard error. It is nil if no
// rule matches.
func (r rules) classifySilent(f *failed) *Failure {
	f.Class = cmp.Or(classOf(r.classes, f), classOf(r.silent, f))
	if f.Class == "" {
		return nil
	}
	return &f.Failure
}

// statusIn is the last HTTP status in standard error, 0 for none.
func (r rules) statusIn(errors []byte) int {
	if r.errorStatus == nil {
		return 0
	}
	found := r.errorStatus.FindAllSubmatch(errors, -1)
	if len(found) == 0 {
		return 0
	}
	return status(string(found[len(found)-1][1]))
}

// classOf is the class of the first rule that matches, "" for none.
func classOf(all []classRule, f *failed) outcome.Class {
	for _, c := range all {
		if c.fits(f) {
			return c.class
		}
	}
	return ""
}

func (c classRule) fits(f *failed) bool {
	if c.match != nil {
		return c.match.MatchString(f.Message)
	}
	return slices.ContainsFunc(f.kinds, c.kind.MatchString)
}

// lastBytes is the end of a text, at most limit bytes, cut between characters.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-limit:], "")
}
