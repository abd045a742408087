package routing_test

import (
	"os"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// Any bytes give a policy or a typed error; a loaded policy decides or fails with an
// error, can be rebuilt from its sources, and has branches.
func fuzzLoad(t *testing.T, ref string) {
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		wantCode(t, err, errs.PolicyInvalid)
		return
	}
	_, decided := p.Decide(t.Context(), clean())
	if decided != nil && asFault(decided) == nil {
		t.Errorf("not a fault: %v", decided)
	}
	p.Thresholds(routing.DecisionRule)
	again, err := routing.Loader{}.FromSources(t.Context(), "again", p.Sources())
	if err != nil {
		t.Fatalf("it does not load from its sources: %v", err)
	}
	if got, want := again.Identity().Digest, p.Identity().Digest; got != want {
		t.Errorf("from its sources it has the digest %s, want %s", got, want)
	}
	l, err := p.Branches(t.Context(), routing.DecisionRule)
	if err != nil {
		t.Fatalf("it cannot be taken apart: %v", err)
	}
	if _, err := l.Matching(t.Context(), clean()); err != nil && asFault(err) == nil {
		t.Errorf("not a fault: %v", err)
	}
}

func FuzzLoadSource(f *testing.F) {
	f.Add(goodPolicy)
	for _, dir := range []string{"../../../policies/routing/1.0.0", "../../../policies/routing/1.1.0", "../../../policies/routing/1.2.0"} {
		source, err := os.ReadFile(dir + "/routing.rego")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzLoad(t, policyDir(t, source)) })
}

func FuzzLoadBundle(f *testing.F) {
	for _, entries := range [][]entry{
		{{"/policy.rego", goodPolicy}},
		{{"/policy.rego", goodPolicy}, {"/data.json", "{}"}, {"/.manifest", `{"roots": [""]}`}},
	} {
		packed, err := os.ReadFile(archive(f, entries...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) { fuzzLoad(t, writeFile(t, "bundle.tar.gz", packed)) })
}
