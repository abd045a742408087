package routing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Every policy has the same name, which is also the directory of the released versions, and
// the same Rego package.
const (
	policyName  = "routing"
	packageName = "switchyard." + policyName
)

// build makes a policy from loaded sources. It checks embedded policies as strictly as a
// foreign bundle.
func (l Loader) build(ctx context.Context, ref string, c loadedSources) (*Policy, error) {
	if err := checkSize(ref, c.modules); err != nil {
		return nil, err
	}
	p := &Policy{
		ref: ref, modules: c.modules, signer: c.signer, engine: cmp.Or(l.Engine, EngineRego),
		branches: make(map[Rule]*Branches), thresholds: make(map[Rule]*Thresholds), memories: make(map[Rule]*memory),
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	if c.roots != nil {
		if err := p.checkManifest(c.roots, c.entrypoints); err != nil {
			return nil, err
		}
	}
	var problems []Problem
	if p.contract, problems = readContract(c.modules, p.parsed); len(problems) > 0 {
		return nil, p.invalid(problems...)
	}
	p.identity.Digest, p.identity.Revision = Digest(p.Sources()), c.revision

	var err error
	if p.compiler, err = p.compile(p.parsed); err != nil {
		return nil, err
	}
	if problems := checkReferences(p.compiler, p.tables, p.bar); len(problems) > 0 {
		return nil, p.invalid(problems...)
	}
	prepare := func(rule Rule) (evaluator, error) {
		if p.engine == EngineWasm {
			return p.compileWasm(ctx, rule.query(), l.CacheDir)
		}
		return p.interpret(ctx, p.compiler, rule.query(), true)
	}
	if p.evaluate, err = prepare(DecisionRule); err == nil && p.bar {
		p.evaluateBar, err = prepare(BarRule)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func checkSize(ref string, modules []module) error {
	if len(modules) > MaxModules {
		return tooLarge(ref, "", "it holds more than %d Rego files", MaxModules)
	}
	total := 0
	for _, m := range modules {
		if total += len(m.Text); total > MaxModuleBytes {
			return tooLarge(ref, "", "its Rego files have more than %d bytes together", MaxModuleBytes)
		}
		if nestsDeeper(m.Text, maxNesting) {
			return tooLarge(ref, m.shown, "it nests brackets more than %d deep", maxNesting)
		}
	}
	return nil
}

// parse parses a module without its METADATA.
func parse(name, text string) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(name, text, ast.ParserOptions{Capabilities: language(), RegoVersion: ast.RegoV1})
}

func (p *Policy) parse() error {
	p.parsed = make(map[string]*ast.Module, len(p.modules))
	for _, m := range p.modules {
		if p.parsed[m.shown] != nil { // an archive can have a name twice; only the last module would count
			return invalid(p.ref, Problem{File: m.shown, Message: "the file is there twice"})
		}
		mod, err := parse(m.shown, m.Text)
		if err != nil {
			return p.invalidRego(err)
		}
		p.parsed[m.shown] = mod
	}
	return nil
}

// compile compiles parsed modules without modifying them.
func (p *Policy) compile(parsed map[string]*ast.Module) (*ast.Compiler, error) {
	caps := language()
	named := namedBuiltins(parsed)
	caps.Builtins = declareLimited(slices.DeleteFunc(slices.Clone(named), disallowed))
	compiler := ast.NewCompiler().
		WithCapabilities(caps).
		WithStrict(true).
		// The result of the first stage is unused. The indices of the second do not change
		// results, and help only with more data than an input has.
		WithSkipStages(ast.StageBuildRequiredCapabilities, ast.StageBuildComprehensionIndices)
	if compiler.Compile(parsed); compiler.Failed() {
		problems := Problems(compiler.Errors)
		for i := range problems {
			problems[i].Message = explainNamed(problems[i].Message, named)
		}
		return nil, p.invalid(problems...)
	}
	callLimited(compiler.Modules)
	return compiler, nil
}

// language returns the Rego that policies are parsed as: version 1, no future keywords.
func language() *ast.Capabilities {
	return &ast.Capabilities{
		Features: []string{ast.FeatureRegoV1, ast.FeatureKeywordsInRefs, ast.FeatureTemplateStrings},
		AllowNet: []string{}, // no host may be contacted for schemas; nil would allow any
	}
}

// namedBuiltins returns the operators and the built-ins that the modules name. The
// compiler's startup cost grows with this list, and a policy uses few of some 200
// built-ins.
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
		// The compiler itself adds the internal ones, for example for "in".
		if b.Infix != "" || strings.HasPrefix(b.Name, "internal.") || named[b.Name] {
			list = append(list, b)
		}
	}
	return list
}

// disallowed reports whether a policy must not call b. Replaying a decision must
// terminate and give the same result on any machine at any time. Patterns and GraphQL are
// disallowed because their time and memory are hard to bound, and policies see only counts
// and names.
func disallowed(b *ast.Builtin) bool {
	switch family, _, _ := strings.Cut(b.Name, "."); family {
	case "regex", "glob", "graphql":
		return true
	}
	switch b.Name {
	case "crypto.x509.parse_and_verify_certificates",
		"crypto.x509.parse_and_verify_certificates_with_options":
		return true // they read the clock, but OPA does not mark them as nondeterministic
	case "time.add_date", "time.clock", "time.date", "time.diff", "time.format", "time.parse_ns", "time.weekday":
		return true // they read the time zone and the time zone files of the machine
	case "bits.lsh", "graph.reachable_paths", "json.marshal_with_options", "json.patch", "net.cidr_expand",
		"re_match", "rego.parse_module", "replace", "strings.render_template", "strings.replace_n", "yaml.is_valid", "yaml.marshal", "yaml.unmarshal":
		return true // one call can use all memory even with small arguments, and cannot be interrupted
	}
	return b.IsNondeterministic()
}

// nestsDeeper reports whether source has more than limit brackets open at once. It also
// counts brackets in strings and comments, where a policy needs few.
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

// Capabilities returns the Rego that policies and their tests are written in, with every
// built-in that is not disallowed. The caller owns it.
func Capabilities() *ast.Capabilities {
	caps := language()
	caps.Builtins = slices.DeleteFunc(slices.Clone(ast.Builtins), disallowed)
	return caps
}
