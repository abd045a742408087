package routing

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Rule is a rule of a policy that the host evaluates.
type Rule string

// The rules.
const (
	DecisionRule Rule = "decision"
	// BarRule is optional.
	BarRule Rule = "bar"
)

// query returns the query for the rule.
func (r Rule) query() string { return "data." + packageName + "." + string(r) }

// checkRule requires a complete rule, and checks the value of each branch. Computed values
// are checked on every evaluation.
func (r *reader) checkRule(name Rule, check func(branch *ast.Rule)) {
	rules := r.rules[string(name)]
	if len(rules) == 0 {
		r.problem(nil, "package %s has no rule named %s", packageName, name)
	}
	for _, rule := range rules {
		switch head := rule.Head; {
		case len(head.Args) > 0:
			r.problem(rule.Loc(), "%s must be a rule and not a function", name)
		case head.RuleKind() == ast.MultiValue:
			r.problem(rule.Loc(), "%s must be one value and not a set", name)
		case len(head.Ref()) > 1:
			r.problem(rule.Loc(), "%s must be one value and not be put together from rules", name)
		default:
			for branch := rule; branch != nil; branch = branch.Else {
				check(branch)
			}
		}
	}
}

func (r *reader) checkBar(branch *ast.Rule) {
	value := branch.Head.Value
	if isComputed(value.Value) {
		return
	}
	if text, ok := value.Value.(ast.String); !ok || !Bar(text).Valid() {
		r.problem(value.Loc(), "bar must be one of %s, and not %s", textutil.List(textutil.Strings(Bars()), len(Bars())), textutil.Clip(value.String(), 100))
	}
}

func (r *reader) checkDecision(branch *ast.Rule) {
	const want = `decision must be {"next_action": ..., "reason": ...}`
	value := branch.Head.Value
	if isComputed(value.Value) {
		return
	}
	object, ok := value.Value.(ast.Object)
	if !ok {
		r.problem(value.Loc(), "%s, and not of type %s", want, ast.ValueName(value.Value))
		return
	}
	r.checkKeys(value)
	object.Foreach(func(key, field *ast.Term) {
		text, written := field.Value.(ast.String)
		switch name, ok := key.Value.(ast.String); {
		case !ok:
			r.problem(key.Loc(), "%s: its names must be written out", want)
		case name != "next_action" && name != "reason":
			r.problem(key.Loc(), "%s, and %v is neither", want, key)
		case isComputed(field.Value):
		case !written:
			r.problem(field.Loc(), "%s of a decision must be a string", name)
		case name == "next_action" && text == "":
			r.problem(field.Loc(), "next_action of a decision must not be empty")
		case name == "reason" && !IsName(string(text)):
			r.problem(field.Loc(), "reason %s: a reason is up to 64 lower-case letters, digits and hyphens", textutil.Clip(field.String(), 100))
		}
	})
	for _, name := range []string{"next_action", "reason"} {
		if object.Get(ast.StringTerm(name)) == nil {
			r.problem(value.Loc(), "%s: %s is missing", want, name)
		}
	}
}

// isComputed reports whether v can only be checked after evaluation. An array or a set
// comprehension cannot be valid, whatever its members are.
func isComputed(v ast.Value) bool {
	switch v.(type) {
	case ast.Var, ast.Ref, ast.Call, *ast.TemplateString, *ast.ObjectComprehension:
		return true
	default:
		return false
	}
}
