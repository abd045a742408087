package routing

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// thresholdAnalysis follows the input's numbers through the compiled rules to their
// comparisons. Rules are not recursive, so each is read once: callers before the
// functions that they call, so that the arguments are known, and the values that a rule
// names before the rule.
type thresholdAnalysis struct {
	compiler *ast.Compiler
	fields   map[string]map[int]bool
	unknown  map[position]bool
	read     map[*ast.Rule]abstractValue   // the values of the rules read so far
	args     map[*ast.Rule][]abstractValue // the arguments of functions
}

// position is a comparable location.
type position struct {
	file     string
	row, col int
}

func newThresholdAnalysis(compiler *ast.Compiler) *thresholdAnalysis {
	return &thresholdAnalysis{
		compiler: compiler,
		fields:   make(map[string]map[int]bool),
		unknown:  make(map[position]bool),
		read:     make(map[*ast.Rule]abstractValue),
		args:     make(map[*ast.Rule][]abstractValue),
	}
}

// run reads every rule that decision depends on.
func (t *thresholdAnalysis) run() {
	var todo []*ast.Rule
	for _, rule := range t.rules(ast.MustParseRef(decisionQuery)) {
		for branch := rule; branch != nil; branch = branch.Else {
			todo = append(todo, branch)
		}
	}
	needed := make(map[*ast.Rule]bool)
	for len(todo) > 0 {
		rule := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if needed[rule] {
			continue
		}
		needed[rule] = true
		for dependency := range t.compiler.Graph.Dependencies(rule) {
			todo = append(todo, dependency.(*ast.Rule))
		}
	}
	sorted, ok := t.compiler.Graph.Sort()
	if !ok { // cannot happen: the compiler rejects recursive rules
		for rule := range needed {
			t.report(rule.Location)
		}
	}
	for _, node := range slices.Backward(sorted) {
		if rule := node.(*ast.Rule); needed[rule] {
			t.rule(rule)
		}
	}
}

// rules returns the rules that a reference may mean.
func (t *thresholdAnalysis) rules(ref ast.Ref) []*ast.Rule {
	return t.compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true})
}

// report records a use of the input that cannot be bounded.
func (t *thresholdAnalysis) report(loc *ast.Location) {
	if loc == nil {
		loc = &ast.Location{}
	}
	t.unknown[position{loc.File, loc.Row, loc.Col}] = true
}

// note records that a field is compared with numbers.
func (t *thresholdAnalysis) note(field string, numbers []int) {
	if len(numbers) > 0 && t.fields[field] == nil {
		t.fields[field] = make(map[int]bool)
	}
	for _, n := range numbers {
		t.fields[field][n] = true
	}
}

// compare records a comparison of any kind between two values.
func (t *thresholdAnalysis) compare(loc *ast.Location, a, b abstractValue) {
	if a.input || a.routes || b.input || b.routes {
		t.report(loc)
		return
	}
	for _, field := range a.fields {
		t.note(field, b.numbers)
		for _, other := range b.fields {
			if !relatable(field, other) {
				t.report(loc)
			}
		}
	}
	for _, field := range b.fields {
		t.note(field, a.numbers)
	}
	if a.derived && len(b.fields) > 0 || b.derived && len(a.fields) > 0 {
		t.report(loc)
	}
}

// relatable reports whether two fields may be compared with each other. Comparing the
// round with the cap is common and supported; the counts of two destinations are both
// called routes, but may differ.
func relatable(a, b string) bool {
	if a == b {
		return a != routesField
	}
	return a == "round" && b == "max_rounds" || a == "max_rounds" && b == "round"
}

// rule reads a rule, or one branch of it, and returns its abstract value.
func (t *thresholdAnalysis) rule(rule *ast.Rule) abstractValue {
	if value, ok := t.read[rule]; ok {
		return value
	}
	t.read[rule] = abstractValue{derived: true} // for a recursive rule
	s := ruleAnalysis{thresholdAnalysis: t, vars: make(map[ast.Var]abstractValue), at: rule.Head.Location}
	for i, param := range rule.Head.Args {
		s.bind(param, t.argument(rule, i))
	}
	s.body(rule.Body)
	t.read[rule] = s.head(rule.Head)
	return t.read[rule]
}

// argument returns the abstract value of a function's argument.
func (t *thresholdAnalysis) argument(rule *ast.Rule, i int) abstractValue {
	if args := t.args[rule]; i < len(args) {
		return args[i]
	}
	return abstractValue{}
}

// call records the arguments of a function call.
func (t *thresholdAnalysis) call(rule *ast.Rule, args []abstractValue) {
	for branch := rule; branch != nil; branch = branch.Else {
		known := t.args[branch]
		for i, arg := range args {
			if i == len(known) {
				known = append(known, abstractValue{})
			}
			known[i] = known[i].join(arg)
		}
		t.args[branch] = known
	}
}
