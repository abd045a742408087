package routing

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// interpreter evaluates a query with OPA's evaluator.
type interpreter struct{ query rego.PreparedEvalQuery }

// interpret prepares a query. If strict, a failing built-in fails the whole query. By
// default its result would be undefined, and another rule could decide instead.
func (p *Policy) interpret(ctx context.Context, compiler *ast.Compiler, query string, strict bool) (interpreter, error) {
	prepared, err := rego.New(append(limitedFunctions(compiler),
		rego.Query(query),
		rego.Compiler(compiler),
		rego.StrictBuiltinErrors(strict),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return answerJSON(t) }),
	)...).PrepareForEval(ctx)
	if err != nil {
		return interpreter{}, p.invalidRego(err)
	}
	return interpreter{prepared}, nil
}

func (i interpreter) evaluate(ctx context.Context, in Input) (answer, error) {
	// With a Cancel of the caller, OPA starts no goroutine for each evaluation.
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()

	results, err := i.query.Eval(ctx, rego.EvalParsedInput(in.value()), rego.EvalExternalCancel(cancel),
		// Both optimizations skip expressions that cannot change an answer, but can fail.
		// Whether an evaluation fails must depend on the policy, not on the engine.
		rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	switch {
	case topdown.IsCancel(err):
		return answer{}, errInterrupted
	case err != nil:
		return answer{}, err
	case len(results) == 0 || len(results[0].Expressions) == 0:
		return answer{}, nil
	}
	return answer{results[0].Expressions[0].Value, true}, nil
}
