package routing

import (
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// packageName is the Rego package of every policy.
const packageName = "switchyard.routing"

// decisionQuery asks for the decision:
//
//	data.switchyard.routing.decision
const decisionQuery = "data." + packageName + ".decision"

// module is one Rego source file.
type module struct {
	name   string // shown in errors
	path   string // slash path within the policy
	source string
}

// build turns what a carrier holds into a policy. It is the one road for every
// carrier, so the embedded policies get no milder treatment than a stranger's
// bundle.
func (l Loader) build(ctx context.Context, ref string, c loadedSources) (*Policy, error) {
	if err := checkSize(ref, c.modules); err != nil {
		return nil, err
	}
	p := &Policy{ref: ref, modules: c.modules, signer: c.signer}
	if err := p.parse(); err != nil {
		return nil, err
	}
	contract, problems := readContract(c.modules, p.parsed)
	if len(problems) > 0 {
		return nil, p.invalid(problems...)
	}
	p.identity, p.title, p.tables = contract.identity, contract.title, contract.tables
	p.identity.Digest, p.identity.Revision = policyDigest(c.modules), c.revision

	compiler, err := p.compile(p.parsed)
	if err != nil {
		return nil, err
	}
	if problems := checkReferences(compiler, p.tables); len(problems) > 0 {
		return nil, p.invalid(problems...)
	}
	p.compiler = compiler
	if p.engine = l.Engine; p.engine == "" {
		p.engine = EngineRego
	}
	switch p.engine {
	case EngineWasm:
		p.evaluator, err = p.compileWasm(ctx, compiler, l.CacheDir)
	default:
		p.evaluator, err = p.interpret(ctx, compiler, decisionQuery, true)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkSize checks modules against the limits of Load.
func checkSize(ref string, modules []module) error {
	total := 0
	for _, m := range modules {
		if total += len(m.source); total > MaxModuleBytes {
			return tooLarge(ref, "", "its Rego files have more than %d bytes together", MaxModuleBytes)
		}
		if nestsDeeper(m.source, MaxNesting) {
			return tooLarge(ref, m.name, "it nests brackets more than %d deep", MaxNesting)
		}
	}
	return nil
}

// parse parses the policy's modules.
func (p *Policy) parse() error {
	caps := language()
	p.parsed = make(map[string]*ast.Module, len(p.modules))
	for _, m := range p.modules {
		if p.parsed[m.name] != nil { // an archive can do that; only the last would count
			return invalid(p.ref, Problem{File: m.name, Message: "the file is there twice"})
		}
		mod, err := ast.ParseModuleWithOpts(m.name, m.source, ast.ParserOptions{
			Capabilities: caps,
			RegoVersion:  ast.RegoV1,
		})
		if err != nil {
			return p.invalidRego(err)
		}
		p.parsed[m.name] = mod
	}
	return nil
}

// compile compiles parsed modules, and leaves them as they are.
func (p *Policy) compile(parsed map[string]*ast.Module) (*ast.Compiler, error) {
	caps := language()
	named := namedBuiltins(parsed)
	caps.Builtins = declareLimited(slices.DeleteFunc(slices.Clone(named), disallowed))
	compiler := ast.NewCompiler().
		WithCapabilities(caps).
		WithStrict(true).
		// Nobody reads what the first of these stages works out. The second one's
		// indices change no result, and are for more data than an input has.
		WithSkipStages(ast.StageBuildRequiredCapabilities, ast.StageBuildComprehensionIndices)
	if compiler.Compile(parsed); compiler.Failed() {
		problems := regoProblems(compiler.Errors)
		for i := range problems {
			problems[i].Message = explainNamed(problems[i].Message, named)
		}
		return nil, p.invalid(problems...)
	}
	callLimited(compiler.Modules)
	return compiler, nil
}

// language is the Rego that policies are parsed as: version 1, and no future
// keywords.
func language() *ast.Capabilities {
	return &ast.Capabilities{
		Features: []string{ast.FeatureRegoV1, ast.FeatureKeywordsInRefs, ast.FeatureTemplateStrings},
		AllowNet: []string{}, // schemas are fetched from no host; nil would mean from any
	}
}

// namedBuiltins lists the operators, and the built-ins that the modules name. The
// compiler's start-up cost grows with this list, and a policy names few of some two
// hundred.
func namedBuiltins(parsed map[string]*ast.Module) []*ast.Builtin {
	named := make(map[string]bool)
	for _, mod := range parsed {
		ast.WalkRefs(mod, func(ref ast.Ref) bool {
			named[ref.String()] = true
			return false
		})
		ast.WalkWiths(mod, func(with *ast.With) bool { // "with count as f" names it without a reference
			named[with.Target.String()] = true
			named[with.Value.String()] = true
			return false
		})
	}
	var list []*ast.Builtin
	for _, b := range ast.Builtins {
		// The compiler itself brings in the internal ones, for "in" for example.
		if b.Infix != "" || strings.HasPrefix(b.Name, "internal.") || named[b.Name] {
			list = append(list, b)
		}
	}
	return list
}

// disallowed says that a policy may not call b. Replaying a decision must give
// the same answer, on any machine and in any year, and must end.
func disallowed(b *ast.Builtin) bool {
	switch b.Name {
	case "crypto.x509.parse_and_verify_certificates",
		"crypto.x509.parse_and_verify_certificates_with_options":
		return true // they read the clock without OPA marking them for it
	case "bits.lsh", "graph.reachable_paths", "json.marshal_with_options", "json.patch", "net.cidr_expand",
		"rego.parse_module", "strings.render_template", "yaml.is_valid", "yaml.marshal", "yaml.unmarshal":
		return true // one call can take all memory, however small its arguments are, and cannot be interrupted
	}
	return b.IsNondeterministic()
}

// nestsDeeper reports whether source opens more than limit brackets at once. It
// counts those in strings and comments too, where a policy has no use for many.
func nestsDeeper(source string, limit int) bool {
	depth := 0
	for i := range len(source) {
		switch source[i] {
		case '[', '{', '(':
			if depth++; depth > limit {
				return true
			}
		case ']', '}', ')':
			depth = max(depth-1, 0)
		}
	}
	return false
}
