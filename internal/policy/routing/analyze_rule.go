package routing

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ruleAnalysis is the state of the analysis inside one branch of a rule. The compiler has
// ordered the expressions so that a variable is bound before it is used.
type ruleAnalysis struct {
	*thresholdAnalysis
	vars map[ast.Var]abstractValue
	at   *ast.Location // of the current expression
}

// body reads the expressions of a conjunction.
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
	if len(expr.With) > 0 { // it may replace the input
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

// every reads a quantifier. It reads the domain's members as an iteration does.
func (s *ruleAnalysis) every(e *ast.Every) {
	domain := s.term(e.Domain)
	if e.Key != nil {
		s.bind(e.Key, keys(domain))
	}
	s.bind(e.Value, s.members(domain))
	s.body(e.Body)
}

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

// builtin reads a call of any other built-in. Its result is treated as unknown.
func (s *ruleAnalysis) builtin(b *ast.Builtin, operands []*ast.Term) {
	arity := min(len(operands), len(b.Decl.FuncArgs().Args))
	for _, operand := range operands[:arity] {
		s.use(operand)
	}
	s.bindAll(operands[arity:], abstractValue{derived: true})
}

// get reads object.get(object, key, default), by which policies read the count of a
// destination that may be missing.
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

// function reads a call of a function of the policy. Its result may depend on its
// arguments in any way, so it must not be a number of the input.
func (s *ruleAnalysis) function(ref ast.Ref, operands []*ast.Term) {
	rules := s.rules(ref)
	if len(rules) == 0 {
		return // the compiler rejects it
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

// returned returns the abstract value of a function branch's result: a constant, or
// unknown.
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

// pattern binds the free variables of a destructured array or object.
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

// isFree reports whether a term is a variable that is not bound yet.
func (s *ruleAnalysis) isFree(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	_, bound := s.vars[v]
	return ok && !bound
}

// bind assigns a value to a term: a free variable is bound to it, any other term is
// compared with it.
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

// bindAll binds the result of a call, if it is used.
func (s *ruleAnalysis) bindAll(results []*ast.Term, value abstractValue) {
	for _, result := range results {
		s.bind(result, value)
	}
}

// use reads a term that is passed to an operation the analysis does not follow.
func (s *ruleAnalysis) use(t *ast.Term) abstractValue {
	value := s.term(t)
	if value.holdsInput() {
		s.report(s.at)
	}
	return value.without()
}

// useAll is use for several terms.
func (s *ruleAnalysis) useAll(terms []*ast.Term) abstractValue {
	result := abstractValue{}
	for _, t := range terms {
		result = result.join(s.use(t))
	}
	return result
}

// head returns the abstract value of a rule's value. Numbers of the input must not appear
// in a set or an object built by partial rules, in the result of a function, or in a rule
// with a reference head. The count of a destination must not be the value either: several
// destinations would give several counts, and whether they are equal decides whether that
// is an error.
func (s *ruleAnalysis) head(head *ast.Head) abstractValue {
	s.at = head.Location
	result := s.useAll(head.Ref()[1:])
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

// term reads a term and returns its abstract value.
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
	case interface{ Foreach(func(*ast.Term)) }: // an array or a set
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
	default: // the compiler has moved calls out of terms
		s.report(s.at)
		return abstractValue{derived: true}
	}
}

func (s *ruleAnalysis) comprehension(body ast.Body, terms ...*ast.Term) abstractValue {
	s.body(body)
	return s.useAll(terms)
}

// variable returns the abstract value of a variable. A variable without a known binding
// is an index or a part of a destructured value.
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

// ref follows a reference from its head, index by index.
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

// data returns the abstract value of a reference to rules or into their values.
func (s *ruleAnalysis) data(ref ast.Ref) abstractValue {
	result := abstractValue{}
	for n, rule := range s.rules(ref) {
		if len(rule.Head.Args) > 0 { // a package's functions are not part of its value, and are read after all their callers
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
			s.compare(s.at, result, value) // conflicting rules are an error
		}
		result = result.join(value)
	}
	for _, index := range ref[1:] {
		s.key(index, abstractValue{derived: true})
	}
	return result
}

// index returns the abstract value of value[index].
func (s *ruleAnalysis) index(value abstractValue, index *ast.Term) abstractValue {
	s.key(index, keys(value))
	name, ok := index.Value.(ast.String)
	if !value.input {
		if ok && value.routes { // the count of this destination only
			value.routes = false
			return s.members(value).join(abstractValue{fields: []string{routesField + "." + string(name)}})
		}
		return s.members(value)
	}
	if !ok {
		s.report(s.at)
		return abstractValue{derived: true}
	}
	s.reads[string(name)] = true
	value.input = false
	members := s.members(value)
	switch field := string(name); {
	case field == routesField:
		return members.join(abstractValue{routes: true})
	case isNumeric(field):
		return members.join(abstractValue{fields: []string{field}})
	default:
		return members
	}
}

// key reads an index: a free variable is bound to each key, any other term selects one.
func (s *ruleAnalysis) key(index *ast.Term, keys abstractValue) {
	if s.isFree(index) {
		s.bind(index, keys)
		return
	}
	s.use(index)
}

// keys returns the abstract value of a value's keys. The keys of the routes and of the
// input are names.
func keys(value abstractValue) abstractValue {
	if value.input || value.routes {
		return abstractValue{}
	}
	return abstractValue{derived: true}
}

// members returns the abstract value of a value's members. A field is a number, without
// members.
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
