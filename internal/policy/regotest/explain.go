package regotest

import (
	"cmp"
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// explain reruns a failed test and reports the expression that failed with the values of
// its variables. If the test cannot be run again, t is unchanged.
func (s suite) explain(ctx context.Context, r *tester.Result, t *Test) {
	ref := s.ref(r.Location)
	if ref == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, TestTimeout)
	defer stop()
	var last lastFail
	query, err := rego.New(rego.Compiler(s.compiler), rego.Query(ref.String())).PrepareForEval(ctx)
	if err != nil {
		return
	}
	// The result is already known.
	_, _ = query.Eval(ctx, rego.EvalQueryTracer(&last))
	if last.expr == nil {
		return
	}
	place := s.placeOf(last.expr.Location)
	t.FailedAt, t.Locals = &place, last.locals()
	if len(t.Locals) == 0 {
		t.Locals = append(t.Locals, s.sides(ctx, &last)...)
	}
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

// lastFail records the last failed expression, which ended the test. Earlier failures
// were only attempts.
type lastFail struct {
	expr  *ast.Expr
	event topdown.Event
}

// Enabled implements topdown.QueryTracer.
func (*lastFail) Enabled() bool { return true }

// Config requests the values of variables.
func (*lastFail) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent handles one step of the evaluation.
func (l *lastFail) TraceEvent(e topdown.Event) {
	expr, ok := e.Node.(*ast.Expr)
	if !ok || e.Op != topdown.FailOp || !e.Location.HasFile() {
		return
	}
	if _, every := expr.Terms.(*ast.Every); every && l.expr != nil {
		return // the failure is in its body and already recorded
	}
	l.expr, l.event = expr, e
}

// locals returns the bound variables of the expression, under the names used by the
// test's author.
func (l *lastFail) locals() []Local {
	found := []Local{}
	seen := make(map[string]bool)
	vars := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipClosures: true})
	vars.Walk(l.expr)
	for v := range vars.Vars() {
		name := string(l.event.LocalMetadata[v].Name)
		value := l.event.Locals.Get(v)
		if name == "" || value == nil || seen[name] {
			continue
		}
		seen[name] = true
		found = append(found, Local{Name: name, Value: textutil.Clip(value.String(), maxShown)})
	}
	slices.SortFunc(found, func(a, b Local) int { return cmp.Compare(a.Name, b.Name) })
	return found
}
