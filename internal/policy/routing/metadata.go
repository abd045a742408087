package routing

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxADRLen bounds the name of a decision record, in bytes: it becomes a metric label.
const maxADRLen = 128

func isRouting(pkg *ast.Package) bool {
	return len(pkg.Path) == 3 &&
		pkg.Path[1].Value.Compare(ast.String("switchyard")) == 0 &&
		pkg.Path[2].Value.Compare(ast.String("routing")) == 0
}

// readMetadata requires exactly one METADATA block on package switchyard.routing, with a
// title, a version and a decision record.
func (r *reader) readMetadata(modules []module, parsed map[string]*ast.Module) {
	var found []*ast.Annotations
	for _, m := range modules {
		annotations, err := packageAnnotations(m, parsed[m.shown].Package)
		if err != nil {
			r.problems = append(r.problems, regoProblems(err)...)
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
		r.problem(a.Loc(), "METADATA needs custom.version, a semantic version as 1.0.0")
	}
	adr, ok := a.Custom["adr"].(string)
	if !ok || !isPrintable(adr) {
		r.problem(a.Loc(), "METADATA needs custom.adr, the decision record behind this version as ADR-0001")
	}
	_, name, _ := strings.Cut(packageName, ".")
	r.identity = Identity{Name: name, Version: version, ADR: adr}
}

// packageAnnotations reads the METADATA of a module's package. It gives OPA only the
// source up to the package clause: parsing the METADATA of every rule is a third of the
// cost of parsing and not needed for a decision.
func packageAnnotations(m module, pkg *ast.Package) ([]*ast.Annotations, error) {
	head, _, _ := strings.Cut(m.Text[pkg.Location.Offset:], "\n")
	stub := m.Text[:pkg.Location.Offset+len(head)]
	mod, err := ast.ParseModuleWithOpts(m.shown, stub, ast.ParserOptions{
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
	if s == "" || len(s) > maxADRLen {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
