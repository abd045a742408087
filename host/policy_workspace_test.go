package host_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestAgentsAreCheckedAgainstTheLatestVersion checks that a project with its own versions is not
// compared with newer built-in versions of a later program.
func TestAgentsAreCheckedAgainstTheLatestVersion(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.write(".switchyard/agents/critic-a11y.md", "---\nname: critic-a11y\ndescription: Accessibility\nmodule: true\n---\n- `a11y`: it cannot be used without a mouse.\n")
	asked := func(ref string) (asked, holds bool) {
		t.Helper()
		checks, err := s.Policies().Workspace().Check(t.Context(), api.CheckRequest{Policies: []string{ref}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range checks.Reports[0].Results {
			if r.Invariant == check.CategoryKnown {
				return r.Skipped == "", r.Holds
			}
		}
		t.Fatal("nobody looked at what is raised")
		return false, false
	}
	if asked, holds := asked(policies.Default); !asked || holds {
		t.Errorf("without a line of its own, the newest that is built in: asked is %v, and it holds: %v", asked, holds)
	}
	s.withPolicy("policies/routing/1.1.0", "version: 1.3.0", "version: 1.1.0", "\t\"style\"", "\t\"a11y\": \"executor\",\n\t\"style\"")
	if asked, holds := asked("policies/routing/1.1.0"); !asked || !holds {
		t.Errorf("the project's own: asked is %v, and it holds: %v", asked, holds)
	}
	if asked, _ := asked(policies.Default); asked {
		t.Error("a newer one that is built in is checked against the project's agents")
	}
}
