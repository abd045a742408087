package routing

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// inputFields returns the sorted names of the fields of Input in Rego, for a policy with or
// without a rule named bar.
func inputFields(bar bool) []string {
	var in Input
	if bar {
		in.Facts = &Facts{InducedCount: new(int)}
	}
	var fields []string
	in.each(DecisionRule, func(name string, _ any) { fields = append(fields, name) })
	slices.Sort(fields)
	return fields
}

// isNumeric reports whether a field of Input is a number.
func isNumeric(field string) bool {
	numeric := false
	Input{Facts: &Facts{InducedCount: new(int)}}.each(DecisionRule, func(name string, value any) {
		if _, ok := value.(int); ok && name == field {
			numeric = true
		}
	})
	return numeric
}

// checkReferences requires every reference to resolve. A dangling one is undefined, so a
// rule with a misspelt name would never match without any error.
func checkReferences(compiler *ast.Compiler, t tables, bar bool) []Problem {
	var problems []Problem
	seen := make(map[string]bool) // the compiler copies some expressions
	for _, name := range slices.Sorted(maps.Keys(compiler.Modules)) {
		ast.WalkRefs(compiler.Modules[name], func(ref ast.Ref) bool {
			message := ""
			switch {
			case ref.HasPrefix(ast.InputRootRef):
				message = danglingInput(t, bar, ref)
			case ref.HasPrefix(ast.DefaultRootRef):
				message = danglingData(compiler, ref)
			}
			if message == "" {
				return false
			}
			p := problemAt(ref[0].Loc(), "%s", message)
			if !seen[p.String()] {
				seen[p.String()] = true
				problems = append(problems, p)
			}
			return false
		})
	}
	return problems
}

// danglingInput describes why a reference into the input does not resolve, or returns "".
func danglingInput(t tables, bar bool, ref ast.Ref) string {
	if len(ref) < 2 || !ref[1].IsGround() {
		return ""
	}
	field, _ := ref[1].Value.(ast.String)
	switch {
	case !slices.Contains(inputFields(bar), string(field)):
		return "input has no field " + ref[1].String() + ": there are " + strings.Join(inputFields(bar), ", ")
	case len(ref) == 2:
		return ""
	case field != routesField:
		return "input." + string(field) + " has no fields"
	case len(ref) > 3:
		return "a count in input.routes has no fields"
	case !ref[2].IsGround():
		return ""
	}
	if to, _ := ref[2].Value.(ast.String); !t.takesFindings(string(to)) {
		return "input.routes never counts for " + ref[2].String() + ": findings go to " + strings.Join(t.precedence, ", ")
	}
	return ""
}

// danglingData is danglingInput for a reference into the policy's packages, which define
// the only data.
func danglingData(compiler *ast.Compiler, ref ast.Ref) string {
	node := compiler.RuleTree.Child(ref[0].Value)
	for _, term := range ref[1:] {
		if !term.IsGround() || len(node.Values) > 0 {
			return ""
		}
		if node = node.Child(term.Value); node == nil {
			return "nothing in the policy defines " + ref.String()
		}
	}
	return ""
}
