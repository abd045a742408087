package routing

import "github.com/open-policy-agent/opa/v1/ast"

// Capabilities returns the Rego that policies and their tests are written in, with every
// built-in that is not disallowed. The caller owns it.
func Capabilities() *ast.Capabilities {
	caps := language()
	for _, b := range ast.Builtins {
		if !disallowed(b) {
			caps.Builtins = append(caps.Builtins, b)
		}
	}
	return caps
}

// Problems converts an error of OPA's parser or compiler. The result is never empty.
func Problems(err error) []Problem { return regoProblems(err) }
