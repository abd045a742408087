package check_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// raisedFor returns a Raised in which np-critic raises every category of the policy.
func raisedFor(p *routing.Policy) map[string][]string {
	raised := make(map[string][]string)
	for category := range maps.Keys(p.RouteTable()) {
		raised[category] = []string{"np-critic"}
	}
	return raised
}

// broken lists the violated invariants.
func broken(r check.Report) []check.Invariant {
	var names []check.Invariant
	for _, result := range r.Results {
		if result.Violated > 0 {
			names = append(names, result.Invariant)
		}
	}
	return names
}

func resultOf(t *testing.T, r check.Report, i check.Invariant) check.Result {
	t.Helper()
	at := slices.IndexFunc(r.Results, func(result check.Result) bool { return result.Invariant == i })
	if at < 0 {
		t.Fatalf("the report says nothing of %s", i)
	}
	return r.Results[at]
}

func verify(t *testing.T, p *routing.Policy, o check.Options) check.Report {
	t.Helper()
	r, err := check.Verify(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func load(t *testing.T, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rego returns the source of a version of routing.
func rego(t *testing.T, version string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../../../policies/routing", version, "routing.rego"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// small is routing 1.2.0 without plan-checker and researcher, whose findings go to the
// executor. It has a quarter of the classes.
func small(t *testing.T) string {
	t.Helper()
	return shrunk(t, rego(t, "1.2.0"))
}

// shrunk removes plan-checker and researcher.
func shrunk(t *testing.T, source string) string {
	t.Helper()
	return replaced(t, source,
		"\t\"plan-checker\": {\"kind\": \"agent\", \"advances_round\": false},\n", "",
		"\t\"researcher\": {\"kind\": \"agent\", \"advances_round\": true},\n", "",
		`"information-missing": "researcher"`, `"information-missing": "executor"`,
		`"infrastructure-mismatch": "plan-checker"`, `"infrastructure-mismatch": "executor"`,
		`"locked-decision-violation": "plan-checker"`, `"locked-decision-violation": "executor"`,
		`["stuck", "askuser", "plan-checker", "researcher", "executor"]`, `["stuck", "askuser", "executor"]`,
	)
}

// replaced returns a source with texts replaced, each of which must occur once.
func replaced(t *testing.T, source string, oldnew ...string) string {
	t.Helper()
	for pair := range slices.Chunk(oldnew, 2) {
		if n := strings.Count(source, pair[0]); n != 1 {
			t.Fatalf("%q is there %d times", pair[0], n)
		}
		source = strings.Replace(source, pair[0], pair[1], 1)
	}
	return source
}

func policy(t *testing.T, source string) *routing.Policy {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "routing.rego"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

// mutated returns the small policy with texts replaced.
func mutated(t *testing.T, oldnew ...string) *routing.Policy {
	t.Helper()
	return policy(t, replaced(t, small(t), oldnew...))
}
