package regotest

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

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
