// Package regotest runs the tests that come with a policy, as opa test would, and
// measures which lines of the policy they reach.
//
// Tests are written in the same Rego as policies: what a policy may not call, a
// test may not either, so a test that passes today passes anywhere and in any
// year.
package regotest

import "github.com/switchyard-dev/switchyard/internal/policy/routing"

// Outcome is how a test ended.
type Outcome string

// The outcomes of a test.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // its name begins with todo_test_
	Errored Outcome = "errored" // it could not be carried out, or ran over its time
)

// Report is what the tests of a policy said.
type Report struct {
	// Tests are all of them, by file and line.
	Tests   []Test `json:"tests"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Errored int    `json:"errored"`
	// Coverage is what they reached of the modules, tests not counted.
	Coverage Coverage `json:"coverage"`
	// Millis is how long it all took.
	Millis int64 `json:"millis"`
}

// Clean says that there are tests and that all of them passed.
func (r Report) Clean() bool { return r.Passed > 0 && r.Passed == len(r.Tests) }

// Test is one test rule.
type Test struct {
	// Name is that of the rule, with its cases' names behind it where it has some.
	Name    string  `json:"name"`
	Package string  `json:"package"`
	Outcome Outcome `json:"outcome"`
	// Location is the rule's.
	Location routing.Location `json:"place"`
	// FailedAt is the expression that did not hold, nil where nobody knows.
	FailedAt *routing.Location `json:"failed_at,omitzero"`
	// Locals are the values that the variables of that expression had. If an
	// equation has no variables, they are its sides, or what only one of them has.
	Locals []Local `json:"locals"`
	// Cases are the names of the cases that failed, where the test has cases.
	Cases []string `json:"cases"`
	// Message is why it could not be carried out.
	Message string `json:"message,omitzero"`
	// Output is what its print calls wrote, clipped.
	Output string `json:"output,omitzero"`
	Millis int64  `json:"millis"`
}

// Local is a variable and its value, in Rego's words and clipped.
type Local struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Coverage is how many lines of the modules the tests reached, of those that
// can be reached.
type Coverage struct {
	Lines   int `json:"lines"`
	Covered int `json:"covered"`
	// Percent is rounded down, so that 100 means all.
	Percent float64 `json:"percent"`
	// Missing are the lines that no test reached.
	Missing []routing.Location `json:"missing"`
}
