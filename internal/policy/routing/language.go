package routing

import "github.com/open-policy-agent/opa/v1/ast"

// Capabilities is the Rego that policies and their tests are written in: every
// built-in that is not disallowed. It is the caller's.
func Capabilities() *ast.Capabilities {
	caps := language()
	for _, b := range ast.Builtins {
		if !disallowed(b) {
			caps.Builtins = append(caps.Builtins, b)
		}
	}
	return caps
}

// Problems takes an error of OPA's parser or compiler apart. There is always at
// least one.
func Problems(err error) []Problem { return regoProblems(err) }
