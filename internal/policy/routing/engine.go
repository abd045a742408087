package routing

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Engine selects how a policy is evaluated. Both engines give the same decisions and
// errors; they differ in cost.
type Engine string

// The engines.
const (
	// EngineRego interprets the policy. It is the default, because it loads and decides
	// faster for policies of this size.
	EngineRego Engine = "rego"
	// EngineWasm compiles the policy to WebAssembly and runs that.
	EngineWasm Engine = "wasm"
)

// evaluator evaluates a prepared query. It is safe for concurrent use.
type evaluator interface {
	// evaluate returns the answer for in. The error is errInterrupted if ctx ended the
	// evaluation.
	evaluate(ctx context.Context, in Input) (answer, error)
}

// answer is the result of a query.
type answer struct {
	value   any // as decoded from JSON
	defined bool
}

// errInterrupted reports that an evaluation was ended from outside.
var errInterrupted = errors.New("interrupted")

// answerJSON returns a policy's value as decoded from JSON. Its size is checked first: a
// value that refers to the same part many times can be larger than memory when written
// out.
func answerJSON(t *ast.Term) (any, error) {
	if size(t.Value, maxValueSize) > maxValueSize {
		return nil, fmt.Errorf("its answer has more than %s", sizeWords(maxValueSize))
	}
	return ast.JSON(t.Value)
}
