package host_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/policies"
)

// inventory returns the policies of the project and their references.
func (s *summarized) inventory() (api.PolicyInventory, []string) {
	s.Helper()
	all, err := s.Policies().Workspace().List(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	refs := make([]string, len(all.Policies))
	for i, k := range all.Policies {
		refs[i] = k.Ref
	}
	return all, refs
}

func TestPoliciesAreListedOnce(t *testing.T) {
	s := newSummarized(t)
	// In the workspace: a built-in version, its successor, one that claims to be the
	// oldest, and one that is not a policy.
	s.withPolicy("policies/routing/1.3.0")
	s.withPolicy("policies/routing/1.4.0", "version: 1.3.0", "version: 1.4.0")
	s.withPolicy("policies/routing/0.9.0", "version: 1.3.0", "version: 0.9.0")
	s.write("policies/routing/1.0.5/routing.rego", "package switchyard.routing\n\ndecision :=\n")
	s.review("A", "style")

	all, refs := s.inventory()
	want := []string{"policies/routing/0.9.0", "routing@1.0.0", "routing@1.1.0", "routing@1.2.0", "routing@1.3.0", "policies/routing/1.4.0", "policies/routing/1.0.5"}
	if !slices.Equal(refs, want) {
		t.Fatalf("got %v, want %v", refs, want)
	}
	if k := all.Policies[4]; !k.BuiltIn || k.Folder != "policies/routing/1.3.0" || !k.Default || !k.Adopted || k.Configured || k.State != release.StateReleased {
		t.Errorf("of the version that is built in: %+v", k)
	}
	if k := all.Policies[5]; k.BuiltIn || k.Default || k.Adopted || k.State != release.StateDraft || k.Title != "Routing" || k.Problem != "" {
		t.Errorf("of the draft: %+v", k)
	}
	if k := all.Policies[6]; k.Policy != nil || k.Problem == "" {
		t.Errorf("of what is no policy: %+v", k)
	}
}

// TestPoliciesInUseAreListed checks that an adopted policy and a configured one of the
// same name are listed separately if its files have changed since.
func TestPoliciesInUseAreListed(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.withPolicy("own")
	s.write("switchyard.yaml", "policy: own\n")
	s.review("A", "style")
	all, refs := s.inventory()
	if !slices.Equal(refs, policies.Versions()) || !all.Policies[3].Adopted || !all.Policies[3].Configured || all.Configured != "own" {
		t.Fatalf("with a policy that is the default in a directory: %v, %+v", refs, all)
	}

	s.withPolicy("own", styleToUser...)
	all, refs = s.inventory()
	if !slices.Equal(refs, append(policies.Versions(), "own")) {
		t.Fatalf("got %v", refs)
	}
	if before, now := all.Policies[3], all.Policies[4]; !before.Adopted || before.Configured || now.Adopted || !now.Configured || now.State != "" {
		t.Errorf("the adopted one is %+v, and the configured one %+v", before, now)
	}

	if _, err := s.Policies().Adopt(s.Context(), api.AdoptRequest{}); err != nil {
		t.Fatal(err)
	}
	s.withPolicy("own", "1.3.0", "1.3.1")
	all, refs = s.inventory()
	if !slices.Equal(refs, append(policies.Versions(), "own", "own")) {
		t.Fatalf("got %v", refs)
	}
	if now, before := all.Policies[4], all.Policies[5]; !now.Configured || now.Adopted || before.Configured || !before.Adopted || before.Policy.Version != "1.3.0" {
		t.Errorf("the configured one is %+v, and the adopted one %+v", now, before)
	}
}

// TestLoadPolicy checks that "" loads the active policy.
func TestLoadPolicy(t *testing.T) {
	s := newSummarized(t)
	version := func(ref string) string {
		t.Helper()
		p, err := s.Policies().Load(t.Context(), ref, false)
		if err != nil {
			t.Fatal(err)
		}
		return p.Identity().Version
	}
	if got := version(""); got != "1.3.0" {
		t.Errorf("the default is %s", got)
	}
	if _, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{Policy: "routing@1.0.0"}); err != nil {
		t.Fatal(err)
	}
	if got := version(""); got != "1.0.0" {
		t.Errorf("the adopted one is %s", got)
	}
	s.write("switchyard.yaml", "policy: routing@1.1.0\n")
	if got := version(""); got != "1.1.0" {
		t.Errorf("the configured one is %s", got)
	}
	if got := version("routing@1.3.0"); got != "1.3.0" {
		t.Errorf("the named one is %s", got)
	}
}

// TestLoadTests checks that a policy's tests are loaded under names that the user can
// open.
func TestLoadTests(t *testing.T) {
	s := newSummarized(t)
	s.withPolicy("own")
	s.write("own/routing_test.rego", "package switchyard.routing_test\n")
	for ref, want := range map[string][]string{
		"own":           {"own/routing.rego", "own/routing_test.rego"},
		"./own":         {"own/routing.rego", "own/routing_test.rego"},
		"routing@1.0.0": {"routing@1.0.0/routing.rego", "routing@1.0.0/routing_test.rego"},
		"":              {"routing@1.3.0/routing.rego", "routing@1.3.0/routing_test.rego"},
	} {
		tested, err := s.Policies().LoadTests(t.Context(), ref, false)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range tested.Files {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("of %q: %v, want %v", ref, names, want)
		}
	}
}
