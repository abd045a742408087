package routing

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const decisionRule = "decision"

// checkDecision requires a complete rule whose constant branches are valid decisions.
// Decide checks computed values on every evaluation.
func (r *reader) checkDecision() {
	rules := r.rules[decisionRule]
	if len(rules) == 0 {
		r.problems = append(r.problems, Problem{Message: "package " + packageName + " has no rule named " + decisionRule})
	}
	for _, rule := range rules {
		switch head := rule.Head; {
		case len(head.Args) > 0:
			r.problem(rule.Loc(), "decision must be a rule and not a function")
		case head.RuleKind() == ast.MultiValue:
			r.problem(rule.Loc(), "decision must be one object and not a set")
		case len(head.Ref()) > 1:
			r.problem(rule.Loc(), `decision must be one object, {"next_action": ..., "reason": ...}, and not be put together from rules`)
		default:
			for branch := rule; branch != nil; branch = branch.Else {
				r.checkBranch(branch)
			}
		}
	}
}

func (r *reader) checkBranch(branch *ast.Rule) {
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

// isComputed reports whether v is known only after evaluation. The members of a
// comprehension must be evaluated, but whether it is an array or a set is known.
func isComputed(v ast.Value) bool {
	switch v.(type) {
	case ast.Var, ast.Ref, ast.Call, *ast.TemplateString, *ast.ObjectComprehension:
		return true
	default:
		return false
	}
}
