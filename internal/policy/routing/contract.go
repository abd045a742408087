package routing

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// tables are the static parts of a policy. They are read-only after readContract.
type tables struct {
	destinations map[string]Destination
	routes       map[string]string
	locations    map[string]*ast.Location // of each category in the route table
	precedence   []string
}

// contract is the part of a policy that is known without evaluation.
type contract struct {
	identity Identity
	title    string
	tables   tables
	bar      bool // whether there is a rule named bar
}

// reader collects a contract and its problems.
type reader struct {
	contract
	rules    map[string][]*ast.Rule // of package switchyard.routing, by first name
	problems []Problem
}

// readContract reads the tables and the METADATA of the parsed modules and checks them
// against the contract in docs/policies.md. The contract is usable only if there are no
// problems.
func readContract(modules []module, parsed map[string]*ast.Module) (contract, []Problem) {
	r := reader{rules: make(map[string][]*ast.Rule)}
	var routing []module
	for _, m := range modules {
		mod := parsed[m.shown]
		if !isRouting(mod.Package) {
			r.checkOutside(mod)
			continue
		}
		routing = append(routing, m)
		for _, rule := range mod.Rules {
			name := ruleName(rule)
			r.rules[name] = append(r.rules[name], rule)
		}
	}
	if len(routing) == 0 {
		return contract{}, []Problem{{Message: "no module declares package " + packageName}}
	}

	r.readMetadata(routing, parsed)
	r.readDestinations()
	r.readPrecedence()
	r.readRouteTable()
	r.checkRule(DecisionRule, r.checkDecision)
	if len(r.rules[string(BarRule)]) > 0 {
		r.bar = true
		r.checkRule(BarRule, r.checkBar)
	}
	return r.contract, r.problems
}

func (r *reader) problem(loc *ast.Location, format string, args ...any) {
	r.problems = append(r.problems, problemAt(loc, format, args...))
}

// checkOutside refuses a rule of the policy's package in a module of package switchyard: it could
// decide, but would be neither shown nor explained.
func (r *reader) checkOutside(mod *ast.Module) {
	for _, rule := range mod.Rules {
		if mod.Package.Path.String()+"."+ruleName(rule) == "data."+packageName {
			r.problem(rule.Loc(), "a rule of package %s must be in a module of that package", packageName)
		}
	}
}

// readDestinations requires name -> {kind, advances_round}, including Stuck and Commit.
func (r *reader) readDestinations() {
	object, ok := static[ast.Object](r, "destinations", "an object")
	if !ok {
		return
	}
	r.tables.destinations = make(map[string]Destination, object.Len())
	object.Foreach(func(key, value *ast.Term) {
		name, ok := key.Value.(ast.String)
		if !ok || !IsName(string(name)) {
			r.problem(key.Loc(), "destination %v: a name is up to 64 lower-case letters, digits and hyphens", key)
			return
		}
		if isReserved(string(name)) {
			r.problem(key.Loc(), "destination %v: the host uses this name itself", key)
		}
		d, ok := destination(value.Value)
		if !ok {
			r.problem(key.Loc(), `destination %v must be {"kind": "agent", "human" or "terminal", "advances_round": true or false}`, key)
			return
		}
		if d.Kind == Terminal && d.AdvancesRound {
			r.problem(key.Loc(), "destination %v is terminal and cannot advance the round", key)
		}
		r.tables.destinations[string(name)] = d
	})
	for _, name := range []string{Commit, Stuck} {
		if r.tables.destinations[name].Kind != Terminal {
			r.problem(r.rules["destinations"][0].Loc(), "destinations must declare %q as terminal", name)
		}
	}
}

// isReserved reports whether the host uses the name where it could be a destination's.
func isReserved(name string) bool {
	switch name {
	case Undecided,
		"passed", "not-reviewed", "refused", // the outcomes of gate, beside next actions
		"parked", "failed", "blocked", "spawn-agent-tool", // the next actions of a run or a round that no policy decides
		"critic", "other": // the roles of agents that run for no destination
		return true
	}
	return false
}

// destination reads {kind, advances_round} and rejects other keys.
func destination(v ast.Value) (Destination, bool) {
	value, _ := ast.JSON(v)
	object, _ := value.(map[string]any)
	kind, ok1 := object["kind"].(string)
	advances, ok2 := object["advances_round"].(bool)
	d := Destination{Kind: Kind(kind), AdvancesRound: advances}
	return d, len(object) == 2 && ok1 && ok2 && (d.Kind == Agent || d.Kind == Human || d.Kind == Terminal)
}

// readPrecedence requires declared destinations without duplicates. Commit cannot have
// findings. Stuck may be omitted: unknown categories go there anyway.
func (r *reader) readPrecedence() {
	array, ok := static[*ast.Array](r, "precedence", "an array")
	if !ok {
		return
	}
	names := make([]string, 0, array.Len()+1)
	array.Foreach(func(term *ast.Term) {
		name, ok := r.findingDestination("precedence", term)
		if !ok {
			return
		}
		if slices.Contains(names, name) {
			r.problem(term.Loc(), "precedence lists %q twice", name)
			return
		}
		names = append(names, name)
	})
	if !slices.Contains(names, Stuck) {
		names = slices.Insert(names, 0, Stuck)
	}
	r.tables.precedence = names
}

// readRouteTable requires category -> a destination in precedence: without a rank it could
// never be reached.
func (r *reader) readRouteTable() {
	object, ok := static[ast.Object](r, "route_table", "an object")
	if !ok {
		return
	}
	r.tables.routes = make(map[string]string, object.Len())
	r.tables.locations = make(map[string]*ast.Location, object.Len())
	object.Foreach(func(key, value *ast.Term) {
		category, ok := key.Value.(ast.String)
		if !ok || category == "" {
			r.problem(key.Loc(), "route_table: category %v must be a string that is not empty", key)
			return
		}
		to, ok := r.findingDestination("route_table", value)
		if !ok {
			return
		}
		if !slices.Contains(r.tables.precedence, to) {
			r.problem(value.Loc(), "route_table sends %v to %q, which precedence does not list", key, to)
			return
		}
		r.tables.routes[string(category)] = to
		r.tables.locations[string(category)] = key.Loc()
	})
}

// findingDestination reads the name of a declared destination that accepts findings.
func (r *reader) findingDestination(table string, term *ast.Term) (string, bool) {
	s, ok := term.Value.(ast.String)
	name := string(s)
	switch _, declared := r.tables.destinations[name]; {
	case !ok:
		r.problem(term.Loc(), "%s: %v must be the name of a destination", table, term)
	case !declared:
		r.problem(term.Loc(), "%s names %q, which is not a declared destination", table, name)
	case name == Commit:
		r.problem(term.Loc(), "%s names %q, which no finding may be sent to", table, name)
	default:
		return name, true
	}
	return "", false
}

// static returns the value of a constant rule: one JSON value without a condition, so
// that readers of the source see all of it and the host knows it without evaluation.
func static[T ast.Value](r *reader, name, want string) (T, bool) {
	var none T
	rules := r.rules[name]
	if len(rules) == 0 {
		r.problem(nil, "package %s has no rule named %s", packageName, name)
		return none, false
	}
	rule := rules[0]
	if len(rules) > 1 {
		r.problem(rules[1].Loc(), "%s is static and must be defined exactly once", name)
		return none, false
	}
	head := rule.Head
	if head.Key != nil || len(head.Args) > 0 || len(head.Ref()) != 1 || head.Value == nil ||
		rule.Default || rule.Else != nil || !hasNoBody(rule) || !isJSON(head.Value.Value) {
		r.problem(rule.Loc(), "%s is static: it must be a JSON value that is written out, not computed", name)
		return none, false
	}
	r.checkKeys(head.Value)
	value, ok := head.Value.Value.(T)
	if !ok {
		r.problem(rule.Loc(), "%s must be %s", name, want)
	}
	return value, ok
}

// checkKeys requires the objects of a literal to name each key once. The last value would count,
// and the others would be ignored.
func (r *reader) checkKeys(t *ast.Term) {
	object, ok := t.Value.(ast.Object)
	if !ok {
		return
	}
	var before *ast.Term
	object.Foreach(func(key, value *ast.Term) { // in the order of the keys
		if before != nil && before.Equal(key) {
			r.problem(key.Loc(), "%v is there twice", key)
		}
		before = key
		r.checkKeys(value)
	})
}

// hasNoBody reports whether a rule's body is the one that the parser adds to a rule without one.
func hasNoBody(rule *ast.Rule) bool {
	return rule.Body.Equal(ast.NewBody(ast.NewExpr(ast.BooleanTerm(true))))
}

// isJSON reports whether v is a JSON literal: without a variable, reference, call,
// comprehension or set.
func isJSON(v ast.Value) bool {
	switch v := v.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String:
		return true
	case *ast.Array:
		return !v.Until(func(t *ast.Term) bool { return !isJSON(t.Value) })
	case ast.Object:
		return !v.Until(func(k, t *ast.Term) bool { return !isJSON(k.Value) || !isJSON(t.Value) })
	default:
		return false
	}
}

// ruleName returns the first name of a rule's head: p for p, p[x] and p.q.
func ruleName(rule *ast.Rule) string { return rule.Head.Ref()[0].Value.String() }

// takesFindings reports whether the destination accepts findings.
func (t tables) takesFindings(name string) bool { return slices.Contains(t.precedence, name) }

// maxADRLen bounds the name of a decision record, in bytes: it becomes a metric label.
const maxADRLen = 128

func isRouting(pkg *ast.Package) bool { return pkg.Path.String() == "data."+packageName }

// readMetadata requires exactly one METADATA block on package switchyard.routing, with a
// title, a version and a decision record.
func (r *reader) readMetadata(modules []module, parsed map[string]*ast.Module) {
	var found []*ast.Annotations
	for _, m := range modules {
		annotations, err := packageAnnotations(m, parsed[m.shown].Package)
		if err != nil {
			r.problems = append(r.problems, Problems(err)...)
			return
		}
		found = append(found, annotations...)
	}
	switch {
	case len(found) == 0:
		r.problem(parsed[modules[0].shown].Package.Loc(), "package %s has no METADATA", packageName)
		return
	case len(found) > 1:
		r.problem(found[1].Loc(), "package %s has METADATA more than once", packageName)
		return
	}

	a := found[0]
	if r.title = oneLine(a.Title); r.title == "" {
		r.problem(a.Loc(), "METADATA needs a title")
	}
	version, ok := a.Custom["version"].(string)
	if !ok || !isVersion(version) {
		r.problem(a.Loc(), "METADATA needs custom.version, a semantic version such as 1.0.0")
	}
	adr, ok := a.Custom["adr"].(string)
	if !ok || !isPrintable(adr) {
		r.problem(a.Loc(), "METADATA needs custom.adr, the decision record behind this version, such as ADR-0001")
	}
	r.identity = Identity{Name: policyName, Version: version, ADR: adr}
}

// packageAnnotations reads the METADATA of a module's package. It gives OPA only the
// source up to the package clause: parsing the METADATA of every rule is a third of the
// cost of parsing and not needed for a decision. OPA does not find METADATA behind a byte
// order mark.
func packageAnnotations(m module, pkg *ast.Package) ([]*ast.Annotations, error) {
	head, _, _ := strings.Cut(m.Text[pkg.Location.Offset:], "\n")
	stub := m.Text[:pkg.Location.Offset+len(head)]
	mod, err := ast.ParseModuleWithOpts(m.shown, strings.TrimPrefix(stub, "\ufeff"), ast.ParserOptions{
		Capabilities:      language(),
		RegoVersion:       ast.RegoV1,
		ProcessAnnotation: true,
	})
	if err != nil {
		return nil, err
	}
	var found []*ast.Annotations
	for _, a := range mod.Annotations {
		if a.Scope == "package" {
			found = append(found, a)
		}
	}
	return found, nil
}

// isPrintable reports whether s is short, not empty, and visible ASCII.
func isPrintable(s string) bool {
	return s != "" && len(s) <= maxADRLen && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}
