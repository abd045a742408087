package routing_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// versionDirs lists the directories of the released versions. It fails if there are none, so
// that no loop over it passes without checking anything.
func versionDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../../policies/routing/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no versions found: %v", err)
	}
	if got, want := len(dirs), len(policies.Versions()); got != want {
		t.Fatalf("%d version directories, but %d are embedded", got, want)
	}
	return dirs
}

// parseDir parses a version with its tests and its METADATA.
func parseDir(t *testing.T, dir string) map[string]*ast.Module {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.rego"))
	if err != nil {
		t.Fatal(err)
	}
	modules := make(map[string]*ast.Module)
	for _, file := range files {
		modules[file] = parse(t, file)
	}
	for _, name := range []string{"routing.rego", "routing_test.rego"} {
		if modules[filepath.Join(dir, name)] == nil {
			t.Fatalf("%s has no %s", dir, name)
		}
	}
	return modules
}

func parse(t *testing.T, file string) *ast.Module {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	module, err := ast.ParseModuleWithOpts(file, string(source), ast.ParserOptions{
		RegoVersion:       ast.RegoV1,
		ProcessAnnotation: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// The Rego tests of every version pass and cover every line of it.
func TestRegoTestsPassWithFullCoverage(t *testing.T) {
	for _, dir := range versionDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			modules := parseDir(t, dir)
			coverage := cover.New()
			results, err := tester.NewRunner().
				SetCompiler(ast.NewCompiler().WithStrict(true)).
				SetModules(modules).
				SetCoverageQueryTracer(coverage).
				RunTests(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for r := range results {
				ran++
				if !r.Pass() {
					t.Errorf("%s: %v", r.Name, r)
				}
				if name := strings.TrimPrefix(r.Name, "data."); !strings.Contains(name, "test_success_") && !strings.Contains(name, "test_fail_") {
					t.Errorf("%s is named neither test_success_… nor test_fail_…", name)
				}
			}
			if ran == 0 {
				t.Fatal("no Rego tests ran")
			}
			report := coverage.Report(modules)
			if report.Coverage != 100 {
				for file, r := range report.Files {
					t.Logf("%s: not covered: %v", file, r.NotCovered)
				}
				t.Errorf("coverage is %v %%, want 100 %%", report.Coverage)
			}
		})
	}
}

// TestRegoIsStrictAndFormatted makes the same checks as opa check --strict and opa fmt.
func TestRegoIsStrictAndFormatted(t *testing.T) {
	for _, dir := range versionDirs(t) {
		modules := parseDir(t, dir)
		compiler := ast.NewCompiler().WithStrict(true)
		if compiler.Compile(modules); compiler.Failed() {
			t.Errorf("%s: %v", dir, compiler.Errors)
		}
		for file := range modules {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			formatted, err := format.SourceWithOpts(file, source, format.Opts{RegoVersion: ast.RegoV1})
			if err != nil {
				t.Fatal(err)
			}
			if string(formatted) != string(source) {
				t.Errorf("%s is not formatted as opa fmt would", file)
			}
			for i, line := range strings.Split(string(source), "\n") {
				if len(line) > 120 {
					t.Errorf("%s:%d is longer than 120 bytes", file, i+1)
				}
			}
		}
	}
}

// Everything public is described, for readers of the policy and opa inspect.
func TestEveryPublicRuleHasMetadata(t *testing.T) {
	for _, dir := range versionDirs(t) {
		module := parse(t, filepath.Join(dir, "routing.rego"))
		annotations, errs := ast.BuildAnnotationSet([]*ast.Module{module})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		pkg := annotations.GetPackageScope(module.Package)
		if pkg == nil || pkg.Title == "" || pkg.Description == "" {
			t.Errorf("%s: the package lacks a title or a description", dir)
		}
		var public, entrypoints []string
		for _, rule := range module.Rules {
			name := rule.Head.Ref().String()
			if strings.HasPrefix(name, "_") {
				continue
			}
			public = append(public, name)
			described := false
			for _, a := range slices.Concat(annotations.GetRuleScope(rule), documentScope(annotations, rule)) {
				described = described || a.Title != "" && a.Description != ""
				if a.Entrypoint {
					entrypoints = append(entrypoints, name)
				}
			}
			if !described {
				t.Errorf("%s: rule %s lacks a title or a description", dir, name)
			}
		}
		rules := []string{"decision"}
		if hasBar["routing@"+filepath.Base(dir)] {
			rules = []string{"bar", "decision"}
		}
		if want := append([]string{"destinations", "route_table", "precedence"}, rules...); !slices.Equal(public, want) {
			t.Errorf("%s: public rules are %v, want %v", dir, public, want)
		}
		if !slices.Equal(entrypoints, rules) {
			t.Errorf("%s: entrypoints are %v, want %v", dir, entrypoints, rules)
		}
	}
}

func documentScope(set *ast.AnnotationSet, rule *ast.Rule) []*ast.Annotations {
	if a := set.GetDocumentScope(rule.Ref().GroundPrefix()); a != nil {
		return []*ast.Annotations{a}
	}
	return nil
}

// A version is one directory, one METADATA version, one reference, one ADR.
func TestVersionsAreWhatTheirFoldersSay(t *testing.T) {
	adrs := make(map[string]string)
	for _, ref := range policies.Versions() {
		id := load(t, ref).Identity()
		if got := id.Name + "@" + id.Version; got != ref {
			t.Errorf("METADATA of %s says %s", ref, got)
		}
		if other := adrs[id.ADR]; other != "" {
			t.Errorf("%s and %s share %s", other, ref, id.ADR)
		}
		adrs[id.ADR] = ref
		number, _ := strings.CutPrefix(id.ADR, "ADR-")
		pages, err := filepath.Glob("../../../docs/adr/" + number + "-*.md")
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s of %s: want one page in docs/adr, got %v (%v)", id.ADR, ref, pages, err)
		}
		page, err := os.ReadFile(pages[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "\npolicy: "+ref+"\n") {
			t.Errorf("%s does not say that it is about %s", pages[0], ref)
		}
	}
	if got := policies.Versions(); got[len(got)-1] != policies.Default {
		t.Errorf("the newest of %v is not the default, %s", got, policies.Default)
	}
}

func load(t *testing.T, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(context.Background(), ref)
	if err != nil {
		t.Fatalf("Load(%q): %v", ref, err)
	}
	return p
}
