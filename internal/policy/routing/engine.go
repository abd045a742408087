package routing

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
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

// evaluator returns the answer of a prepared query for in. It ends with ctx, and is safe for
// concurrent use.
type evaluator func(ctx context.Context, in ast.Value) (answer, error)

// answer is the result of a query.
type answer struct {
	value   any // as decoded from JSON
	defined bool
}

// answerJSON returns a policy's value as decoded from JSON. Its size is checked first: a
// value that refers to the same part many times can be larger than memory when written
// out.
func answerJSON(t *ast.Term) (any, error) {
	if size(t.Value, maxValueSize) > maxValueSize {
		return nil, fmt.Errorf("its answer has more than %s", sizeWords(maxValueSize))
	}
	return ast.JSON(t.Value)
}

// interpret prepares a query for OPA's evaluator. If strict, a failing built-in fails the whole query. By
// default its result would be undefined, and another rule could decide instead.
func (p *Policy) interpret(ctx context.Context, compiler *ast.Compiler, query string, strict bool) (evaluator, error) {
	prepared, err := rego.New(append(limitedFunctions(compiler),
		rego.Query(query),
		rego.Compiler(compiler),
		rego.StrictBuiltinErrors(strict),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return answerJSON(t) }),
	)...).PrepareForEval(ctx)
	if err != nil {
		return nil, p.invalidRego(err)
	}
	return func(ctx context.Context, in ast.Value) (answer, error) {
		// With a Cancel of the caller, OPA starts no goroutine for each evaluation.
		cancel := topdown.NewCancel()
		defer context.AfterFunc(ctx, cancel.Cancel)()

		results, err := prepared.Eval(ctx, rego.EvalParsedInput(in), rego.EvalExternalCancel(cancel),
			// Both optimizations skip expressions that cannot change an answer, but can fail.
			// Whether an evaluation fails must depend on the policy, not on the engine.
			rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
		if err != nil || len(results) == 0 {
			return answer{}, err
		}
		return answer{results[0].Expressions[0].Value, true}, nil
	}, nil
}
