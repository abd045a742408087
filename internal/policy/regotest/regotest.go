// Package regotest runs a policy's tests, as opa test does, and measures which lines of
// the policy they cover.
//
// Tests are written in the same Rego as policies and may not call disallowed built-ins
// either, so a test's result does not depend on the machine or the time.
package regotest

import (
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Outcome is the result of a test.
type Outcome string

// The outcomes of a test.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // its name begins with todo_test_
	Errored Outcome = "errored" // it could not be run, or timed out
)

// Report is the result of a policy's tests.
type Report struct {
	// Tests lists all tests, sorted by file and line.
	Tests   []Test `json:"tests"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Errored int    `json:"errored"`
	// Coverage is the coverage of the modules, without the tests.
	Coverage Coverage `json:"coverage"`
	// Millis is the total duration in milliseconds.
	Millis int64 `json:"millis"`
}

// Clean reports whether there are tests and all of them passed.
func (r Report) Clean() bool { return r.Passed > 0 && r.Passed == len(r.Tests) }

// Test is the result of one test rule.
type Test struct {
	// Name is the name of the rule, followed by the names of its cases, if any.
	Name    string  `json:"name"`
	Package string  `json:"package"`
	Outcome Outcome `json:"outcome"`
	// Location is the location of the rule.
	Location routing.Location `json:"place"`
	// FailedAt is the expression that failed, or nil if unknown.
	FailedAt *routing.Location `json:"failed_at,omitzero"`
	// Cases are the names of the failed cases, if the test has cases.
	Cases []string `json:"cases"`
	// Message is the reason why the test could not be run.
	Message string `json:"message,omitzero"`
	// Output is the output of its print calls, truncated.
	Output string `json:"output,omitzero"`
	Millis int64  `json:"millis"`
}

// Coverage counts the coverable lines of the modules and those that the tests covered.
type Coverage struct {
	Lines   int `json:"lines"`
	Covered int `json:"covered"`
	// Percent is rounded down, so that 100 means all.
	Percent float64 `json:"percent"`
	// Missing lists the lines that no test covered.
	Missing []routing.Location `json:"missing"`
}

// maxShown bounds each text that a report shows, in code points.
const maxShown = 4000

// test converts a result of OPA.
func (s suite) test(r *tester.Result) Test {
	t := Test{
		Name: r.Name, Package: strings.TrimPrefix(r.Package, "data."), Outcome: Passed, Location: s.place(r.Location),
		Cases: []string{}, Output: textutil.Clip(strings.TrimSpace(string(r.Output)), maxShown), Millis: r.Duration.Milliseconds(),
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
