package regotest

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// failedAt runs a failed test again and returns the location of the expression that failed,
// or nil if unknown. OPA's runner could record every step of every test instead, which
// takes unbounded memory.
func (s suite) failedAt(ctx context.Context, r *tester.Result) *routing.Location {
	ref := s.ref(r.Location)
	if ref == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, testTimeout)
	defer stop()
	query, err := rego.New(rego.Compiler(s.compiler), rego.Query(ref.String())).PrepareForEval(ctx)
	if err != nil {
		return nil
	}
	var last lastFail
	_, _ = query.Eval(ctx, rego.EvalQueryTracer(&last)) // the result is known: the test fails
	if last.expr == nil {
		return nil
	}
	return new(s.place(last.expr.Location))
}

// ref returns the reference of the test at a location. The name of a result does not
// work: the runner renames a second test of the same name.
func (s suite) ref(loc *ast.Location) ast.Ref {
	for _, module := range s.compiler.Modules {
		for _, rule := range module.Rules {
			if rule.Loc() == loc {
				return module.Package.Path.Extend(rule.Head.Ref().GroundPrefix())
			}
		}
	}
	return nil
}

// lastFail records the last failed expression, which ended the test. Earlier failures only
// made the evaluation backtrack.
type lastFail struct{ expr *ast.Expr }

// Enabled implements topdown.QueryTracer.
func (*lastFail) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*lastFail) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent handles one step of the evaluation.
func (l *lastFail) TraceEvent(e topdown.Event) {
	expr, ok := e.Node.(*ast.Expr)
	if !ok || e.Op != topdown.FailOp || !e.Location.HasFile() {
		return
	}
	if _, every := expr.Terms.(*ast.Every); every && l.expr != nil {
		return // the failure is in its body and already recorded
	}
	l.expr = expr
}
