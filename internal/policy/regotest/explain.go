package regotest

import (
	"cmp"
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
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

// sides returns the two sides of a failed equation, if both are known. For two objects or
// two sets it returns only their differences: tables are long, and the difference may be
// one line.
func (s suite) sides(ctx context.Context, l *lastFail) []Local {
	if !isEquation(l.expr) || len(l.expr.Operands()) != 2 || len(l.expr.With) > 0 {
		return nil
	}
	left, right := s.side(ctx, l, l.expr.Operand(0)), s.side(ctx, l, l.expr.Operand(1))
	if left == nil || right == nil {
		return nil
	}
	names := [2]string{"left", "right"}
	switch a := left.(type) {
	case ast.Object:
		if b, ok := right.(ast.Object); ok {
			left, right, names = lacking(a, b), lacking(b, a), [2]string{"only left", "only right"}
		}
	case ast.Set:
		if b, ok := right.(ast.Set); ok {
			left, right, names = a.Diff(b), b.Diff(a), [2]string{"only left", "only right"}
		}
	}
	return []Local{
		{Name: names[0], Value: textutil.Clip(left.String(), maxShown)},
		{Name: names[1], Value: textutil.Clip(right.String(), maxShown)},
	}
}

// isEquation reports whether an expression is a == b or a = b, possibly rewritten by the
// compiler.
func isEquation(expr *ast.Expr) bool {
	if !expr.IsCall() || expr.Negated {
		return false
	}
	name := expr.Operator().String()
	return name == ast.Equality.Name || name == ast.Equal.Name
}

// side returns the value of one side, or nil if unknown. It evaluates the side again with
// the values of the test's variables.
func (s suite) side(ctx context.Context, l *lastFail, term *ast.Term) ast.Value {
	known, err := ast.TransformVars(term.Copy().Value, func(v ast.Var) (ast.Value, error) {
		if value := l.event.Locals.Get(v); value != nil {
			return value, nil
		}
		return v, nil
	})
	plugged, ok := known.(ast.Value)
	if err != nil || !ok {
		return nil
	}
	body, err := s.compiler.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(sideVar), ast.NewTerm(plugged))))
	if err != nil {
		return nil
	}
	store := inmem.New() // There is no data except that of the modules.
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return nil
	}
	defer store.Abort(ctx, txn)
	stop := topdown.NewCancel()
	defer context.AfterFunc(ctx, stop.Cancel)()
	found, err := topdown.NewQuery(body).WithCompiler(s.compiler).WithStore(store).WithTransaction(txn).WithCancel(stop).Run(ctx)
	if err != nil || len(found) != 1 || found[0][sideVar] == nil {
		return nil
	}
	return found[0][sideVar].Value
}

// sideVar is the variable that a side is bound to.
const sideVar = ast.Var("side")

// lacking returns the part of a that b does not have or has with a different value.
func lacking(a, b ast.Object) ast.Object {
	only := ast.NewObject()
	a.Foreach(func(key, value *ast.Term) {
		if other := b.Get(key); other == nil || !other.Equal(value) {
			only.Insert(key, value)
		}
	})
	return only
}
