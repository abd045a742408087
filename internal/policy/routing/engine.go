package routing

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Engine is how a policy is evaluated. Both engines come to the same decisions
// and the same errors; they differ in what they cost.
type Engine string

// The engines.
const (
	// EngineRego interprets the policy. It is the default, because it is the
	// faster one for policies of this size, to prepare and to decide.
	EngineRego Engine = "rego"
	// EngineWasm compiles the policy to WebAssembly and runs that.
	EngineWasm Engine = "wasm"
)

// evaluator asks a prepared policy one question. It is safe for concurrent use.
type evaluator interface {
	// evaluate answers the question for in. If it ends because ctx does, the
	// error is errInterrupted.
	evaluate(ctx context.Context, in Input) (answer, error)
}

// answer is what a policy says to one question.
type answer struct {
	value   any // as JSON decodes it
	defined bool
}

// errInterrupted says that an evaluation was ended from outside.
var errInterrupted = errors.New("interrupted")

// answerJSON is what a policy says, as JSON decodes it. A value can have more parts
// than there is memory, since its parts can be the same ones many times.
func answerJSON(t *ast.Term) (any, error) {
	if size(t.Value, maxValueSize) > maxValueSize {
		return nil, fmt.Errorf("its answer has more than %s", sizeWords(maxValueSize))
	}
	return ast.JSON(t.Value)
}
