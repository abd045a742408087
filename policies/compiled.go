package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/policies/wasm"
)

// strictPrefix marks the built-ins that a compiled policy asks the host for.
const strictPrefix = "strict."

// answerVar is the variable that a compiled query binds its answer to.
const answerVar = "answer"

// compiled evaluates a query that was compiled to WebAssembly.
type compiled struct{ program *wasm.Program }

// compileWasm compiles the policy's decision. The built-ins are those of the
// interpreter and are called in the host: the ones that OPA would compile in
// are written a second time in C, and say nothing where they fail.
func (p *Policy) compileWasm(ctx context.Context) (compiled, error) {
	compiler, err := p.compile(p.parsed) // a second time: it is going to be changed
	if err != nil {
		return compiled{}, err
	}
	declarations, problems := askHost(compiler)
	if len(problems) > 0 {
		return compiled{}, p.invalid(problems...)
	}
	options := append(declarations, rego.Query(answerVar+" := "+decisionQuery), rego.Compiler(compiler))
	result, err := rego.New(options...).Compile(ctx)
	if err != nil {
		return compiled{}, p.invalid(Problem{Message: "it cannot be compiled to WebAssembly: " + oneLine(err.Error())})
	}
	program, err := wasm.New(ctx, result.Bytes, func(name string) topdown.BuiltinFunc {
		return topdown.GetBuiltin(strings.TrimPrefix(name, strictPrefix))
	})
	if err != nil {
		return compiled{}, p.invalid(Problem{Message: "it cannot be run as WebAssembly: " + oneLine(err.Error())})
	}
	return compiled{program}, nil
}

// askHost renames the built-ins in compiled modules, so that the compiler to
// WebAssembly knows none of them, and declares the new names to it.
func askHost(compiler *ast.Compiler) ([]func(*rego.Rego), []Problem) {
	var declarations []func(*rego.Rego)
	problems := unordered(compiler) // which knows the built-ins by their names
	declared := make(map[string]bool)
	for _, mod := range compiler.Modules {
		ast.WalkExprs(mod, func(expr *ast.Expr) bool {
			if len(expr.With) > 0 {
				problems = append(problems, problemAt(expr.Location, "the wasm engine has no with: use the rego engine"))
			}
			if !expr.IsCall() {
				return false
			}
			b := ast.BuiltinMap[expr.Operator().String()]
			if b == nil || cannotFail(b) {
				return false
			}
			terms := expr.Terms.([]*ast.Term)
			terms[0] = ast.NewTerm(ast.MustParseRef(strictPrefix + b.Name))
			if !declared[b.Name] {
				declared[b.Name] = true
				declarations = append(declarations, rego.FunctionDyn(
					&rego.Function{Name: strictPrefix + b.Name, Decl: b.Decl},
					func(rego.BuiltinContext, []*ast.Term) (*ast.Term, error) {
						return nil, fmt.Errorf("%s is for compiled policies", b.Name)
					}))
			}
			return false
		})
	}
	return declarations, problems
}

// cannotFail says that a built-in has a result for any arguments, and the same in
// both engines: comparisons and what yields all parts of a value.
func cannotFail(b *ast.Builtin) bool {
	switch b.Name {
	case ast.Equality.Name, ast.Assign.Name, ast.Equal.Name, ast.NotEqual.Name,
		ast.LessThan.Name, ast.LessThanEq.Name, ast.GreaterThan.Name, ast.GreaterThanEq.Name,
		ast.Member.Name, ast.MemberWithKey.Name, ast.WalkBuiltin.Name:
		return true
	default:
		return false
	}
}

func (c compiled) evaluate(ctx context.Context, in Input) (answer, error) {
	value, err := c.program.Eval(ctx, in.value().String())
	if errors.Is(err, wasm.ErrInterrupted) {
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
	json, err := ast.JSON(bound.Value)
	return answer{json, err == nil}, err
}
