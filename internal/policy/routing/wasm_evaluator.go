package routing

import (
	"context"
	"errors"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/opawasm"
)

// answerVar is the variable that a compiled query binds its answer to.
const answerVar = "answer"

// compiled evaluates a query compiled to WebAssembly.
type compiled struct{ program *opawasm.Program }

// compileWasm compiles the policy's decision. Built-ins are called in the host, with the
// interpreter's implementations: those that OPA would compile in are separate C
// implementations and report no errors.
func (p *Policy) compileWasm(ctx context.Context, cacheDir string) (compiled, error) {
	problems := checkOrder(p.compiler)
	for _, mod := range p.compiler.Modules {
		ast.WalkExprs(mod, func(expr *ast.Expr) bool {
			if len(expr.With) > 0 {
				problems = append(problems, problemAt(expr.Location, "the wasm engine has no with: use the rego engine"))
			}
			return false
		})
	}
	if len(problems) > 0 {
		return compiled{}, p.invalid(problems...)
	}
	options := append(limitedFunctions(p.compiler), rego.Query(answerVar+" := "+decisionQuery), rego.Compiler(p.compiler))
	result, err := rego.New(options...).Compile(ctx)
	if err != nil {
		return compiled{}, p.invalid(Problem{Message: "it cannot be compiled to WebAssembly: " + oneLine(err.Error())})
	}
	program, err := opawasm.New(ctx, result.Bytes, func(name string) topdown.BuiltinFunc {
		return limited(strings.TrimPrefix(name, limitedPrefix))
	}, cacheDir)
	if errs.CodeOf(err) == errs.PluginCacheUnsafe {
		return compiled{}, err
	}
	if err != nil {
		return compiled{}, p.invalid(Problem{Message: "it cannot be run as WebAssembly: " + oneLine(err.Error())})
	}
	return compiled{program}, nil
}

func (c compiled) evaluate(ctx context.Context, in Input) (answer, error) {
	value, err := c.program.Eval(ctx, in.value().String())
	if errors.Is(err, opawasm.ErrInterrupted) {
		return answer{}, errInterrupted
	}
	if err != nil {
		return answer{}, err
	}
	results, ok := value.(ast.Set)
	if !ok {
		return answer{}, errors.New("the compiled policy returned no results")
	}
	if results.Len() == 0 {
		return answer{}, nil
	}
	bindings, ok := results.Slice()[0].Value.(ast.Object)
	if !ok {
		return answer{}, errors.New("the compiled policy returned no bindings")
	}
	bound := bindings.Get(ast.StringTerm(answerVar))
	if bound == nil {
		return answer{}, errors.New("the compiled policy returned no answer")
	}
	json, err := answerJSON(bound)
	return answer{json, err == nil}, err
}
