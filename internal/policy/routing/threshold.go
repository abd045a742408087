package routing

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// thresholdAnalysis follows the input's numbers through the compiled rules to their
// comparisons. Rules are not recursive, so each is read once: a function after its
// callers, so that the arguments are known, and any other rule before the rules that refer
// to it.
type thresholdAnalysis struct {
	policy  *Policy
	fields  map[string][]int
	unknown map[Location]bool
	read    map[*ast.Rule]abstractValue   // the values of the rules read so far
	args    map[*ast.Rule][]abstractValue // the arguments of functions
	reads   map[string]bool               // the input fields that rules name
}

// run reads every rule that the query depends on.
func (t *thresholdAnalysis) run(query string) {
	needed := make(map[*ast.Rule]bool)
	var need func(rule *ast.Rule)
	need = func(rule *ast.Rule) {
		if needed[rule] {
			return
		}
		needed[rule] = true
		for dependency := range t.policy.compiler.Graph.Dependencies(rule) {
			need(dependency.(*ast.Rule))
		}
	}
	for _, rule := range t.rules(ast.MustParseRef(query)) {
		for branch := rule; branch != nil; branch = branch.Else {
			need(branch)
		}
	}
	sorted, _ := t.policy.compiler.Graph.Sort() // the compiler rejects recursive rules
	for _, node := range slices.Backward(sorted) {
		if rule := node.(*ast.Rule); needed[rule] {
			t.rule(rule)
		}
	}
}

// rules returns the rules that a reference may mean.
func (t *thresholdAnalysis) rules(ref ast.Ref) []*ast.Rule {
	return t.policy.compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true})
}

// report records a use of the input that cannot be bounded.
func (t *thresholdAnalysis) report(loc *ast.Location) {
	if loc == nil {
		loc = &ast.Location{}
	}
	t.unknown[t.policy.location(loc)] = true
}

// note records that a field is compared with numbers.
func (t *thresholdAnalysis) note(field string, numbers []int) {
	if len(numbers) > 0 {
		t.fields[field] = union(t.fields[field], numbers)
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
	if slices.Contains(a.fields, hardCapField) && len(b.numbers) > 0 || slices.Contains(b.fields, hardCapField) && len(a.numbers) > 0 {
		t.report(loc) // only rounds_left has classes, and not hard_cap
	}
	if a.derived && len(b.fields) > 0 || b.derived && len(a.fields) > 0 {
		t.report(loc)
	}
}

// relatable reports whether two fields may be compared with each other. Comparing the
// round with a cap is common and supported; the counts of two destinations are both
// called routes, but may differ.
func relatable(a, b string) bool {
	if a == b {
		return a != routesField
	}
	isCap := func(field string) bool { return field == "max_rounds" || field == hardCapField }
	return a == "round" && isCap(b) || isCap(a) && b == "round"
}

// rule reads a rule, or one branch of it, and returns its abstract value.
func (t *thresholdAnalysis) rule(rule *ast.Rule) abstractValue {
	if value, ok := t.read[rule]; ok {
		return value
	}
	t.read[rule] = abstractValue{derived: true} // for a recursive rule
	s := ruleAnalysis{thresholdAnalysis: t, vars: make(map[ast.Var]abstractValue), at: rule.Head.Location}
	for i, param := range rule.Head.Args {
		value := abstractValue{}
		if args := t.args[rule]; i < len(args) {
			value = args[i]
		}
		s.bind(param, value)
	}
	s.body(rule.Body)
	t.read[rule] = s.head(rule.Head)
	return t.read[rule]
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

// Thresholds holds the numbers that a policy's decision depends on. The policy cannot
// distinguish counts between two neighbouring thresholds, so trying the numbers around
// each threshold covers all counts.
type Thresholds struct {
	// Fields holds the whole numbers that the rules compare each field of the input with,
	// sorted and unique. The key "routes" stands for the count of any destination, and
	// "routes.executor" for the count of that one alone. Fields that are not compared are
	// missing. A number that is not whole is represented by the two around it.
	Fields map[string][]int `json:"fields"`
	// Reads lists the fields of the input that the rules name, sorted.
	Reads []string `json:"-"`
	// Unknown holds the uses of the input that the analysis cannot bound, in source
	// order. If there is one, Fields is incomplete.
	Unknown []Location `json:"unknown"`
}

// Thresholds returns the constants that one of the policy's rules compares the input's
// numbers with. They are empty for a missing rule bar. It reads the compiled rules without
// evaluating them, and errs towards Unknown: a number of the input may be compared with
// constants, and round with max_rounds or hard_cap. Arithmetic, a comparison of two other
// fields, and any other use of a number is unknown. Conditions that do not depend on the
// size of a number are ignored, such as the presence of a destination or the verification
// result. The result must not be modified.
func (p *Policy) Thresholds(rule Rule) Thresholds {
	p.lazyMu.Lock()
	defer p.lazyMu.Unlock()
	if p.thresholds[rule] == nil {
		p.thresholds[rule] = p.trace(rule.query())
	}
	return *p.thresholds[rule]
}

// trace computes the thresholds.
func (p *Policy) trace(query string) *Thresholds {
	t := &thresholdAnalysis{
		policy:  p,
		fields:  make(map[string][]int),
		unknown: make(map[Location]bool),
		read:    make(map[*ast.Rule]abstractValue),
		args:    make(map[*ast.Rule][]abstractValue),
		reads:   make(map[string]bool),
	}
	t.run(query)
	for _, numbers := range t.fields {
		slices.Sort(numbers)
	}
	inOrder := func(a, b Location) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col))
	}
	return &Thresholds{Fields: t.fields, Reads: slices.Sorted(maps.Keys(t.reads)), Unknown: slices.SortedFunc(maps.Keys(t.unknown), inOrder)}
}

// abstractValue describes the values that a term can have. The zero value describes
// values without relevant numbers, such as names and booleans.
type abstractValue struct {
	// fields are the numeric input fields that the value may equal.
	fields []string
	// numbers are the constants of the policy that the value may equal or contain.
	numbers []int
	// derived reports whether the value may be a number that is in neither list.
	derived bool
	// input and routes report whether the value may be the whole input or its routes.
	input, routes bool
}

// routesField stands for the count of any destination.
const routesField = "routes"

// holdsInput reports whether the value may contain unchanged numbers of the input.
func (s abstractValue) holdsInput() bool { return len(s.fields) > 0 || s.input || s.routes }

// maxNumbers bounds the constants of one value. More would make too many input classes to
// try.
const maxNumbers = 100

// join returns the abstract value that covers both s and o.
func (s abstractValue) join(o abstractValue) abstractValue {
	joined := abstractValue{
		fields:  union(s.fields, o.fields),
		numbers: union(s.numbers, o.numbers),
		derived: s.derived || o.derived,
		input:   s.input || o.input,
		routes:  s.routes || o.routes,
	}
	if len(joined.numbers) > maxNumbers {
		joined.numbers, joined.derived = nil, true
	}
	return joined
}

// without returns s after its input numbers have been reported.
func (s abstractValue) without() abstractValue {
	return abstractValue{numbers: s.numbers, derived: s.derived || s.holdsInput()}
}

// union returns the elements of a or b. It modifies neither.
func union[T comparable](a, b []T) []T {
	for i, x := range b {
		if !slices.Contains(a, x) {
			return append(slices.Clip(a), slices.DeleteFunc(slices.Clone(b[i:]), func(x T) bool { return slices.Contains(a, x) })...)
		}
	}
	return a
}

// maxThreshold bounds the tracked constants. No count comes near it.
const maxThreshold = 1 << 30

// numberValue returns the abstract value of a number in the source.
func numberValue(n ast.Number) abstractValue {
	if whole, ok := n.Int(); ok && -maxThreshold < whole && whole < maxThreshold {
		return abstractValue{numbers: []int{whole}}
	}
	f, ok := n.Float64()
	if !ok || math.Abs(f) >= maxThreshold {
		return abstractValue{derived: true}
	}
	return abstractValue{numbers: slices.Compact([]int{int(math.Floor(f)), int(math.Ceil(f))})}
}
