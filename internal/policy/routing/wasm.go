package routing

import (
	"context"
	"errors"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/opawasm"
)

// answerVar is the variable that a compiled query binds its answer to.
const answerVar = "answer"

// compileWasm compiles a query to WebAssembly. Built-ins are called in the host, with the
// interpreter's implementations: those that OPA would compile in are separate C
// implementations and report no errors.
func (p *Policy) compileWasm(ctx context.Context, query, cacheDir string) (evaluator, error) {
	problems := checkOrder(p.compiler)
	hasEvery := false
	for _, mod := range p.compiler.Modules {
		ast.WalkExprs(mod, func(expr *ast.Expr) bool {
			hasEvery = hasEvery || expr.IsEvery()
			if len(expr.With) > 0 {
				problems = append(problems, problemAt(expr.Location, "the wasm engine does not support with: use the rego engine"))
			}
			return false
		})
	}
	if len(problems) > 0 {
		return nil, p.invalid(problems...)
	}
	options := append(limitedFunctions(p.compiler), rego.Query(answerVar+" := "+query), rego.Compiler(p.compiler))
	result, err := rego.New(options...).Compile(ctx)
	if err != nil {
		return nil, p.invalid(Problem{Message: "it cannot be compiled to WebAssembly: " + oneLine(err.Error())})
	}
	program, err := opawasm.New(ctx, result.Bytes, func(name string) topdown.BuiltinFunc {
		return limited(strings.TrimPrefix(name, limitedPrefix))
	}, cacheDir)
	if errs.CodeOf(err) == errs.PluginCacheUnsafe {
		return nil, err
	}
	if err != nil {
		return nil, p.invalid(Problem{Message: "it cannot be run as WebAssembly: " + oneLine(err.Error())})
	}
	var interpreted evaluator
	if hasEvery {
		if interpreted, err = p.interpret(ctx, p.compiler, query, true); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, in ast.Value) (answer, error) {
		results, err := program.Eval(ctx, in.String())
		if err != nil && hasEvery {
			// The compiled every goes on after an element that does not hold, and may have failed
			// for a later one. The interpreter ends there.
			return interpreted(ctx, in)
		}
		if err != nil || results.Len() == 0 {
			return answer{}, err
		}
		bound := results.Slice()[0].Get(ast.StringTerm(answerVar))
		if bound == nil {
			return answer{}, errors.New("the compiled policy returned no answer")
		}
		json, err := answerJSON(bound)
		return answer{json, err == nil}, err
	}, nil
}

// checkOrder finds arrays that a policy builds from unordered collections. WebAssembly
// iterates over sets and objects in hash order, the interpreter in order of their
// members; an array built from them would differ.
func checkOrder(compiler *ast.Compiler) []Problem {
	o := orderChecker{compiler: compiler}
	for _, mod := range compiler.Modules {
		ast.WalkRules(mod, func(rule *ast.Rule) bool {
			o.arrays = ast.NewVarSet()
			ast.WalkExprs(rule.Body, func(expr *ast.Expr) bool { o.note(expr); return false })
			o.body(rule.Body, varsOf(rule.Head.Args), false)
			return false
		})
	}
	return o.problems
}

// orderChecker reads the compiled rules. The compiler has ordered expressions so that
// variables are bound before use and closures follow what they need.
type orderChecker struct {
	compiler *ast.Compiler
	arrays   ast.VarSet // variables of the rule that are certainly arrays
	problems []Problem
}

// varsOf returns the variables of a part of a rule, without those of its closures.
func varsOf(x any) ast.VarSet {
	vars := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipClosures: true})
	vars.Walk(x)
	return vars.Vars()
}

// body reads expressions. outer has the variables that are bound to one value before; ordered
// is set if the results become an array.
func (o *orderChecker) body(body ast.Body, outer ast.VarSet, ordered bool) {
	within := outer.Copy() // for closures, which follow what they need
	within.Update(varsOf(body))
	seen := outer.Copy()
	for _, expr := range body {
		if ordered {
			o.expr(expr, seen)
		}
		seen.Update(varsOf(expr))
		ast.WalkClosures(expr, func(x any) bool {
			switch x := x.(type) {
			case *ast.ArrayComprehension:
				o.body(x.Body, within, true)
			case *ast.SetComprehension:
				o.body(x.Body, within, false)
			case *ast.ObjectComprehension:
				o.body(x.Body, within, false)
			case *ast.Every:
				inner := within.Copy()
				inner.Update(x.KeyValueVars())
				o.body(x.Body, inner, false)
			}
			return true // the inner body has been read
		})
	}
}

// expr requires an expression to iterate over arrays only.
func (o *orderChecker) expr(expr *ast.Expr, seen ast.VarSet) {
	refuse := func() {
		o.problems = append(o.problems, problemAt(expr.Location, "the wasm engine iterates over sets and objects in an undefined order, which an array would show: make a set, or use the rego engine"))
	}
	if expr.IsCall() && expr.Operator().String() == ast.WalkBuiltin.Name {
		refuse()
		return
	}
	refused := false
	ast.WalkRefs(expr, func(ref ast.Ref) bool {
		for i, index := range ref {
			// An index with an unbound variable can have several values.
			unbound := varsOf(index).Diff(ast.ReservedVars).DiffCount(seen) > 0
			if i > 0 && !refused && unbound && !o.isArray(ref[:i]) {
				refuse()
				refused = true
			}
		}
		return false
	})
}

// note records a variable that is assigned an array: a literal or the result of a
// built-in.
func (o *orderChecker) note(expr *ast.Expr) {
	if !expr.IsCall() {
		return
	}
	operands := expr.Operands()
	if expr.IsEquality() {
		for i, term := range operands {
			v, ok := operands[1-i].Value.(ast.Var)
			switch term.Value.(type) {
			case *ast.Array, *ast.ArrayComprehension:
				if ok {
					o.arrays.Add(v)
				}
			}
		}
		return
	}
	b := builtinOf(expr.Operator())
	if b == nil || len(operands) <= b.Decl.Arity() {
		return
	}
	if _, ok := b.Decl.Result().(*types.Array); ok {
		if v, ok := operands[len(operands)-1].Value.(ast.Var); ok {
			o.arrays.Add(v)
		}
	}
}

// isArray reports whether a reference certainly leads to an array.
func (o *orderChecker) isArray(ref ast.Ref) bool {
	if v, ok := ref[0].Value.(ast.Var); ok && len(ref) == 1 && o.arrays.Contains(v) {
		return true
	}
	_, ok := o.compiler.TypeEnv.GetByRef(ref).(*types.Array)
	return ok
}
