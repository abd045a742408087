package routing

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// scope is what a tracer knows inside one branch of a rule. The compiler has put
// the expressions in an order in which what binds a variable comes first.
type scope struct {
	*tracer
	vars map[ast.Var]shade
	at   *ast.Location // of the expression that is being read
}

// body reads expressions that hold together.
func (s *scope) body(body ast.Body) {
	outer := s.at
	for _, expr := range body {
		if expr.Location != nil {
			s.at = expr.Location
		}
		s.expr(expr)
	}
	s.at = outer
}

func (s *scope) expr(expr *ast.Expr) {
	if len(expr.With) > 0 { // under another input, nothing is what it is
		s.report(s.at)
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		s.term(terms)
	case *ast.Every:
		s.every(terms)
	case []*ast.Term:
		s.operation(terms[0], expr.Operands())
	}
}

// every reads a quantifier. It knows the domain's members as an iteration would.
func (s *scope) every(e *ast.Every) {
	domain := s.term(e.Domain)
	if e.Key != nil {
		s.bind(e.Key, keys(domain))
	}
	s.bind(e.Value, s.members(domain))
	s.body(e.Body)
}

// operation reads a call of a built-in or of a function.
func (s *scope) operation(operator *ast.Term, operands []*ast.Term) {
	ref, _ := operator.Value.(ast.Ref)
	if ref.HasPrefix(ast.DefaultRootRef) {
		s.function(ref, operands)
		return
	}
	switch b := builtinOf(ref); b.Name {
	case ast.Equality.Name, ast.Assign.Name:
		s.unify(operands[0], operands[1])
	case ast.Equal.Name, ast.NotEqual.Name, ast.LessThan.Name, ast.LessThanEq.Name, ast.GreaterThan.Name, ast.GreaterThanEq.Name:
		s.compare(s.at, s.term(operands[0]), s.term(operands[1]))
		s.bindAll(operands[2:], shade{})
	case ast.Member.Name:
		s.compare(s.at, s.term(operands[0]), s.members(s.term(operands[1])))
		s.bindAll(operands[2:], shade{})
	case ast.ObjectGet.Name:
		s.get(operands)
	default:
		s.builtin(b, operands)
	}
}

// builtin reads a call of any other built-in. What it makes of numbers of the
// input is its own business.
func (s *scope) builtin(b *ast.Builtin, operands []*ast.Term) {
	arity := min(len(operands), len(b.Decl.FuncArgs().Args))
	for _, operand := range operands[:arity] {
		s.use(operand)
	}
	s.bindAll(operands[arity:], shade{derived: true})
}

// get reads object.get(object, key, default). It is how a policy asks for the
// count of a destination that may have none.
func (s *scope) get(operands []*ast.Term) {
	object, key, otherwise := operands[0], operands[1], operands[2]
	value := s.term(object)
	if !value.routes || value.input || len(value.fields) > 0 {
		s.builtin(ast.ObjectGet, operands)
		return
	}
	s.use(key)
	s.bindAll(operands[3:], shade{fields: []string{routesField}}.join(s.term(otherwise)))
}

// function reads a call of a function of the policy. What it returns may hang
// together with its arguments in any way, so that may be none of the input's
// numbers.
func (s *scope) function(ref ast.Ref, operands []*ast.Term) {
	rules := s.rules(ref)
	if len(rules) == 0 {
		return // the compiler refuses it
	}
	arity := min(len(operands), len(rules[0].Head.Args))
	args := make([]shade, arity)
	for i, operand := range operands[:arity] {
		args[i] = s.term(operand)
	}
	result := shade{}
	for _, rule := range rules {
		s.call(rule, args)
		for branch := rule; branch != nil; branch = branch.Else {
			result = result.join(returned(branch))
		}
	}
	s.bindAll(operands[arity:], result)
}

// returned is the shade of what a branch of a function returns: a value that is
// written out, or who knows.
func returned(branch *ast.Rule) shade {
	switch v := branch.Head.Value.Value.(type) {
	case ast.Boolean, ast.String, ast.Null:
		return shade{}
	case ast.Number:
		return numberShade(v)
	default:
		return shade{derived: true}
	}
}

// unify reads a = b, which binds variables and compares the rest.
func (s *scope) unify(a, b *ast.Term) {
	switch {
	case s.isFree(a):
		s.bind(a, s.term(b))
	case s.isFree(b):
		s.bind(b, s.term(a))
	default:
		s.pattern(a)
		s.pattern(b)
		s.compare(s.at, s.term(a), s.term(b))
	}
}

// pattern binds the free variables of an array or an object that is taken
// apart.
func (s *scope) pattern(t *ast.Term) {
	if _, ok := t.Value.(ast.Ref); ok {
		return
	}
	ast.WalkVars(t, func(v ast.Var) bool {
		if _, bound := s.vars[v]; !bound {
			s.vars[v] = shade{derived: true}
		}
		return false
	})
}

// isFree says that a term is a variable that nothing was bound to yet.
func (s *scope) isFree(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	if !ok {
		return false
	}
	_, bound := s.vars[v]
	return !bound
}

// bind says that a term has a value: a variable has it from now on, and
// anything else is compared with it.
func (s *scope) bind(t *ast.Term, value shade) {
	v, ok := t.Value.(ast.Var)
	if !ok {
		s.pattern(t)
		s.compare(s.at, s.term(t), value)
		return
	}
	known, bound := s.vars[v]
	if bound {
		s.compare(s.at, known, value)
	}
	s.vars[v] = known.join(value)
}

// bindAll binds the result of a call, where it is asked for.
func (s *scope) bindAll(results []*ast.Term, value shade) {
	for _, result := range results {
		s.bind(result, value)
	}
}

// use reads a term that is done something with that nobody follows.
func (s *scope) use(t *ast.Term) shade {
	value := s.term(t)
	if value.raw() {
		s.report(s.at)
	}
	return value.without()
}

// head returns the shade of a rule's value. A set or an object that is put
// together from rules must not hold numbers of the input, nor may a function
// return them, nor a reference to a rule contain them. The count of a destination
// may not be a value either: with several destinations it would be several, and
// whether they are equal decides whether that is an error.
func (s *scope) head(head *ast.Head) shade {
	s.at = head.Location
	result := shade{}
	for _, term := range head.Ref()[1:] {
		result = result.join(s.use(term))
	}
	if head.Key != nil {
		result = result.join(s.use(head.Key))
	}
	if head.Value == nil {
		return result
	}
	if len(head.Ref()) > 1 || head.Key != nil || len(head.Args) > 0 {
		return result.join(s.use(head.Value))
	}
	value := s.term(head.Value)
	if slices.Contains(value.fields, routesField) {
		s.report(s.at)
		return value.without()
	}
	return value
}

// term reads a term and returns its shade.
func (s *scope) term(t *ast.Term) shade {
	switch v := t.Value.(type) {
	case ast.Null, ast.Boolean, ast.String:
		return shade{}
	case ast.Number:
		return numberShade(v)
	case ast.Var:
		return s.variable(v)
	case ast.Ref:
		return s.ref(v)
	case *ast.Array:
		result := shade{}
		v.Foreach(func(x *ast.Term) { result = result.join(s.use(x)) })
		return result
	case ast.Set:
		result := shade{}
		v.Foreach(func(x *ast.Term) { result = result.join(s.use(x)) })
		return result
	case ast.Object:
		result := shade{}
		v.Foreach(func(k, x *ast.Term) { result = result.join(s.use(k)).join(s.use(x)) })
		return result
	case *ast.ArrayComprehension:
		return s.comprehension(v.Body, v.Term)
	case *ast.SetComprehension:
		return s.comprehension(v.Body, v.Term)
	case *ast.ObjectComprehension:
		return s.comprehension(v.Body, v.Key, v.Value)
	default: // the compiler has taken calls out of terms
		s.report(s.at)
		return shade{derived: true}
	}
}

func (s *scope) comprehension(body ast.Body, terms ...*ast.Term) shade {
	s.body(body)
	result := shade{}
	for _, t := range terms {
		result = result.join(s.use(t))
	}
	return result
}

// variable returns the shade of a variable. One that nothing was seen to bind is
// an index or a part of something that was taken apart.
func (s *scope) variable(v ast.Var) shade {
	if v.Equal(ast.InputRootDocument.Value) {
		return shade{input: true}
	}
	value, bound := s.vars[v]
	if !bound {
		return shade{derived: true}
	}
	return value
}

// ref follows a reference from its head, one index after the other.
func (s *scope) ref(ref ast.Ref) shade {
	if ref.HasPrefix(ast.DefaultRootRef) {
		return s.data(ref)
	}
	value := s.term(ref[0])
	for _, index := range ref[1:] {
		value = s.index(value, index)
	}
	return value
}

// data is the shade of a reference to rules, or into their values.
func (s *scope) data(ref ast.Ref) shade {
	result := shade{}
	for n, rule := range s.rules(ref) {
		if len(rule.Head.Args) > 0 { // a package's functions are no part of its value, and wait for all their callers
			continue
		}
		value := shade{}
		for branch := rule; branch != nil; branch = branch.Else {
			value = value.join(s.rule(branch))
		}
		depth := len(rule.Ref())
		if depth > len(ref) && value.raw() { // a whole package
			s.report(s.at)
		}
		for i := depth; i < len(ref); i++ {
			value = s.index(value, ref[i])
		}
		if n > 0 && (value.raw() || result.raw()) {
			s.compare(s.at, result, value) // rules that disagree are an error
		}
		result = result.join(value)
	}
	for _, index := range ref[1:] {
		s.key(index, shade{derived: true})
	}
	return result
}

// index is the shade of value[index].
func (s *scope) index(value shade, index *ast.Term) shade {
	s.key(index, keys(value))
	name, ok := index.Value.(ast.String)
	if !value.input {
		if ok && value.routes { // the count of this destination, and of no other
			value.routes = false
			return s.members(value).join(shade{fields: []string{routesField + "." + string(name)}})
		}
		return s.members(value)
	}
	switch field := string(name); {
	case ok && field == routesField:
		return shade{routes: true}.join(s.members(value.withoutInput()))
	case ok && isNumeric(field):
		return shade{fields: []string{field}}.join(s.members(value.withoutInput()))
	case ok:
		return s.members(value.withoutInput())
	default:
		s.report(s.at)
		return shade{derived: true}
	}
}

// key reads an index: a free variable is bound to each key in turn, anything
// else picks one.
func (s *scope) key(index *ast.Term, keys shade) {
	if s.isFree(index) {
		s.bind(index, keys)
		return
	}
	s.use(index)
}

// withoutInput is s where it is not the whole input.
func (s shade) withoutInput() shade {
	s.input = false
	return s
}

// keys is the shade of a value's keys: of the routes and the input they are
// names.
func keys(value shade) shade {
	if value.input || value.routes {
		return shade{}
	}
	return shade{derived: true}
}

// members is the shade of what a value holds. A number holds nothing.
func (s *scope) members(value shade) shade {
	if value.input {
		s.report(s.at)
		return shade{derived: true}
	}
	result := shade{numbers: value.numbers, derived: value.derived}
	if value.routes {
		result.fields = []string{routesField}
	}
	return result
}
