package regotest

import (
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShown bounds the values and the output that a report shows, in code points.
const maxShown = 4000

func (r *Report) add(t Test) {
	r.Tests = append(r.Tests, t)
	switch t.Outcome {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	default:
		r.Errored++
	}
}

// test converts a result of OPA.
func (s suite) test(r *tester.Result) Test {
	t := Test{
		Name: r.Name, Package: strings.TrimPrefix(r.Package, "data."), Outcome: Passed, Location: s.placeOf(r.Location),
		Locals: []Local{}, Cases: []string{}, Output: textutil.Clip(strings.TrimSpace(string(r.Output)), maxShown), Millis: r.Duration.Milliseconds(),
	}
	switch {
	case r.Skip:
		t.Outcome = Skipped
	case r.Error != nil:
		t.Outcome, t.Message = Errored, message(r.Error)
	case r.Fail:
		t.Outcome = Failed
	}
	for name, sub := range r.SubResults.Iter {
		if sub.Fail && len(sub.SubResults) == 0 {
			t.Cases = append(t.Cases, textutil.Clip(strings.Join(name, "/"), maxShown))
		}
	}
	slices.Sort(t.Cases)
	return t
}

// message formats an error as one line.
func message(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		text = e.Message
		if e.Code == topdown.CancelErr {
			text = "it ran over its time"
		}
	}
	return textutil.Clip(strings.Join(strings.Fields(text), " "), maxShown)
}
