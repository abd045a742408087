package routing

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ruleAnalysis is what a tracer knows inside one branch of a rule. The compiler has put
// the expressions in an order in which what binds a variable comes first.
type ruleAnalysis struct {
	*thresholdAnalysis
	vars map[ast.Var]abstractValue
	at   *ast.Location // of the expression that is being read
}

// body reads expressions that hold together.
func (s *ruleAnalysis) body(body ast.Body) {
	outer := s.at
	for _, expr := range body {
		if expr.Location != nil {
			s.at = expr.Location
		}
		s.expr(expr)
	}
	s.at = outer
}

func (s *ruleAnalysis) expr(expr *ast.Expr) {
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
func (s *ruleAnalysis) every(e *ast.Every) {
	domain := s.term(e.Domain)
	if e.Key != nil {
		s.bind(e.Key, keys(domain))
	}
	s.bind(e.Value, s.members(domain))
	s.body(e.Body)
}

// operation reads a call of a built-in or of a function.
func (s *ruleAnalysis) operation(operator *ast.Term, operands []*ast.Term) {
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
		s.bindAll(operands[2:], abstractValue{})
	case ast.Member.Name:
		s.compare(s.at, s.term(operands[0]), s.members(s.term(operands[1])))
		s.bindAll(operands[2:], abstractValue{})
	case ast.ObjectGet.Name:
		s.get(operands)
	default:
		s.builtin(b, operands)
	}
}

// builtin reads a call of any other built-in. What it makes of numbers of the
// input is its own business.
func (s *ruleAnalysis) builtin(b *ast.Builtin, operands []*ast.Term) {
	arity := min(len(operands), len(b.Decl.FuncArgs().Args))
	for _, operand := range operands[:arity] {
		s.use(operand)
	}
	s.bindAll(operands[arity:], abstractValue{derived: true})
}

// get reads object.get(object, key, default). It is how a policy asks for the
// count of a destination that may have none.
func (s *ruleAnalysis) get(operands []*ast.Term) {
	object, key, otherwise := operands[0], operands[1], operands[2]
	value := s.term(object)
	if !value.routes || value.input || len(value.fields) > 0 {
		s.builtin(ast.ObjectGet, operands)
		return
	}
	s.use(key)
	s.bindAll(operands[3:], abstractValue{fields: []string{routesField}}.join(s.term(otherwise)))
}

// function reads a call of a function of the policy. What it returns may hang
// together with its arguments in any way, so that may be none of the input's
// numbers.
func (s *ruleAnalysis) function(ref ast.Ref, operands []*ast.Term) {
	rules := s.rules(ref)
	if len(rules) == 0 {
		return // the compiler refuses it
	}
	arity := min(len(operands), len(rules[0].Head.Args))
	args := make([]abstractValue, arity)
	for i, operand := range operands[:arity] {
		args[i] = s.term(operand)
	}
	result := abstractValue{}
	for _, rule := range rules {
		s.call(rule, args)
		for branch := rule; branch != nil; branch = branch.Else {
			result = result.join(returned(branch))
		}
	}
	s.bindAll(operands[arity:], result)
}

// returned is the shade of what a branch of a function returns: a value that is
// written out, or unknown.
func returned(branch *ast.Rule) abstractValue {
	switch v := branch.Head.Value.Value.(type) {
	case ast.Boolean, ast.String, ast.Null:
		return abstractValue{}
	case ast.Number:
		return numberValue(v)
	default:
		return abstractValue{derived: true}
	}
}

// unify reads a = b, which binds variables and compares the rest.
func (s *ruleAnalysis) unify(a, b *ast.Term) {
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
func (s *ruleAnalysis) pattern(t *ast.Term) {
	if _, ok := t.Value.(ast.Ref); ok {
		return
	}
	ast.WalkVars(t, func(v ast.Var) bool {
		if _, bound := s.vars[v]; !bound {
			s.vars[v] = abstractValue{derived: true}
		}
		return false
	})
}

// isFree says that a term is a variable that nothing was bound to yet.
func (s *ruleAnalysis) isFree(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	if !ok {
		return false
	}
	_, bound := s.vars[v]
	return !bound
}

// bind says that a term has a value: a variable has it from now on, and
// anything else is compared with it.
func (s *ruleAnalysis) bind(t *ast.Term, value abstractValue) {
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
func (s *ruleAnalysis) bindAll(results []*ast.Term, value abstractValue) {
	for _, result := range results {
		s.bind(result, value)
	}
}

// use reads a term that is done something with that nobody follows.
func (s *ruleAnalysis) use(t *ast.Term) abstractValue {
	value := s.term(t)
	if value.holdsInput() {
		s.report(s.at)
	}
	return value.without()
}

// head returns the shade of a rule's value. A set or an object that is put
// together from rules must not hold numbers of the input, nor may a function
// return them, nor a reference to a rule contain them. The count of a destination
// may not be a value either: with several destinations it would be several, and
// whether they are equal decides whether that is an error.
func (s *ruleAnalysis) head(head *ast.Head) abstractValue {
	s.at = head.Location
	result := abstractValue{}
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
func (s *ruleAnalysis) term(t *ast.Term) abstractValue {
	switch v := t.Value.(type) {
	case ast.Null, ast.Boolean, ast.String:
		return abstractValue{}
	case ast.Number:
		return numberValue(v)
	case ast.Var:
		return s.variable(v)
	case ast.Ref:
		return s.ref(v)
	case *ast.Array:
		result := abstractValue{}
		v.Foreach(func(x *ast.Term) { result = result.join(s.use(x)) })
		return result
	case ast.Set:
		result := abstractValue{}
		v.Foreach(func(x *ast.Term) { result = result.join(s.use(x)) })
		return result
	case ast.Object:
		result := abstractValue{}
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
		return abstractValue{derived: true}
	}
}

func (s *ruleAnalysis) comprehension(body ast.Body, terms ...*ast.Term) abstractValue {
	s.body(body)
	result := abstractValue{}
	for _, t := range terms {
		result = result.join(s.use(t))
	}
	return result
}

// variable returns the shade of a variable. One that nothing was seen to bind is
// an index or a part of something that was taken apart.
func (s *ruleAnalysis) variable(v ast.Var) abstractValue {
	if v.Equal(ast.InputRootDocument.Value) {
		return abstractValue{input: true}
	}
	value, bound := s.vars[v]
	if !bound {
		return abstractValue{derived: true}
	}
	return value
}

// ref follows a reference from its head, one index after the other.
func (s *ruleAnalysis) ref(ref ast.Ref) abstractValue {
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
func (s *ruleAnalysis) data(ref ast.Ref) abstractValue {
	result := abstractValue{}
	for n, rule := range s.rules(ref) {
		if len(rule.Head.Args) > 0 { // a package's functions are no part of its value, and wait for all their callers
			continue
		}
		value := abstractValue{}
		for branch := rule; branch != nil; branch = branch.Else {
			value = value.join(s.rule(branch))
		}
		depth := len(rule.Ref())
		if depth > len(ref) && value.holdsInput() { // a whole package
			s.report(s.at)
		}
		for i := depth; i < len(ref); i++ {
			value = s.index(value, ref[i])
		}
		if n > 0 && (value.holdsInput() || result.holdsInput()) {
			s.compare(s.at, result, value) // rules that disagree are an error
		}
		result = result.join(value)
	}
	for _, index := range ref[1:] {
		s.key(index, abstractValue{derived: true})
	}
	return result
}

// index is the shade of value[index].
func (s *ruleAnalysis) index(value abstractValue, index *ast.Term) abstractValue {
	s.key(index, keys(value))
	name, ok := index.Value.(ast.String)
	if !value.input {
		if ok && value.routes { // the count of this destination, and of no other
			value.routes = false
			return s.members(value).join(abstractValue{fields: []string{routesField + "." + string(name)}})
		}
		return s.members(value)
	}
	switch field := string(name); {
	case ok && field == routesField:
		return abstractValue{routes: true}.join(s.members(value.withoutInput()))
	case ok && isNumeric(field):
		return abstractValue{fields: []string{field}}.join(s.members(value.withoutInput()))
	case ok:
		return s.members(value.withoutInput())
	default:
		s.report(s.at)
		return abstractValue{derived: true}
	}
}

// key reads an index: a free variable is bound to each key in turn, anything
// else picks one.
func (s *ruleAnalysis) key(index *ast.Term, keys abstractValue) {
	if s.isFree(index) {
		s.bind(index, keys)
		return
	}
	s.use(index)
}

// withoutInput is s where it is not the whole input.
func (s abstractValue) withoutInput() abstractValue {
	s.input = false
	return s
}

// keys is the shade of a value's keys: of the routes and the input they are
// names.
func keys(value abstractValue) abstractValue {
	if value.input || value.routes {
		return abstractValue{}
	}
	return abstractValue{derived: true}
}

// members is the shade of what a value holds. A number holds nothing.
func (s *ruleAnalysis) members(value abstractValue) abstractValue {
	if value.input {
		s.report(s.at)
		return abstractValue{derived: true}
	}
	result := abstractValue{numbers: value.numbers, derived: value.derived}
	if value.routes {
		result.fields = []string{routesField}
	}
	return result
}
