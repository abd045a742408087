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

// MaxMessage is how many bytes a failure's message has at most, about.
const MaxMessage = 4 << 10

// errorRule says where an error stands.
type errorRule struct {
	// errors says that it stands in the standard error and not in the output.
	errors bool
	where  where
	// cleared, where it is set, chooses events that take the error back.
	cleared where
	// class, where it is set, is what the error is, whatever else is known.
	class                        outcome.Class
	message, status, kind, after []path
	// statusForm and afterForm find the status and the time to wait in the message.
	// Their first group is what they find.
	statusForm, afterForm *regexp.Regexp
}

// failed is an error that a rule has found.
type failed struct {
	Failure
	kinds []string
}

// find returns the error that the event is.
func (r errorRule) find(e event) *failed {
	f := &failed{Failure: Failure{Class: r.class, Message: strings.Join(scalars(r.message, e), "; ")}}
	f.kinds = scalars(r.kind, e)
	f.Status = status(firstOf(scalars(r.status, e), r.statusForm, f.Message))
	f.RetryAfter = wait(firstOf(scalars(r.after, e), r.afterForm, f.Message))
	f.Message = excerpt(f.Message, MaxMessage)
	return f
}

// scalars returns all texts and numbers that stand at the paths.
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

// status reads an HTTP status that tells of a failure, 0 where it is none.
func status(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// maxWait is the longest time to wait that is believed.
const maxWait = 366 * 24 * time.Hour

// wait reads a time to wait: a number of seconds, or one with its unit.
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

// classRule says what an error is: its kind or its message is of a form. Exactly
// one of the forms is set.
type classRule struct {
	kind, match *regexp.Regexp
	class       outcome.Class
}

// exit says what an exit code tells: an HTTP status or a class.
type exit struct {
	status int
	class  outcome.Class
}

// classify says what an error is: what its rule says, else the first of the class
// rules that fits, else its status, else that it crashed.
func (r rules) classify(f *failed) *Failure {
	f.Class = cmp.Or(f.Class, classOf(r.classes, f), classOfStatus(f.Status), outcome.Crashed)
	return &f.Failure
}

// classifySilent says what a run is that failed and left nothing but a standard
// error. It is nil where no rule knows that text.
func (r rules) classifySilent(f *failed) *Failure {
	f.Class = cmp.Or(classOf(r.classes, f), classOf(r.silent, f))
	if f.Class == "" {
		return nil
	}
	return &f.Failure
}

// statusIn is the last HTTP status in the standard error, 0 where there is none.
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

// classOf is the class of the first rule that fits, "" where none does.
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
