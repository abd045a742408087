package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// nits returns findings of severity nit in lines of a file.
func nits(file string, lines ...int) []fakeagent.Finding {
	var all []fakeagent.Finding
	for _, line := range lines {
		all = append(all, fakeagent.Finding{Category: "style", Severity: "nit", File: file, Line: line, Remediation: "Rename it"})
	}
	return all
}

// deferringSite creates a project whose policy defers nits.
func deferringSite(t *testing.T, critic ...fakeagent.Scenario) *runSite {
	t.Helper()
	s := newRunSite(t, once+"policy: rules/\n", roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}, "critic": critic})
	s.ownPolicy(t, func(rego string) string {
		return rego + "\n# METADATA\n# title: Bar\n# description: Nits are deferred.\n# entrypoint: true\nbar := \"risk\"\n"
	})
	return s
}

// deferredTrailers returns the trailers about deferred findings of task T's commit.
func (s *runSite) deferredTrailers(t testing.TB) string {
	t.Helper()
	return s.git(t, "log", "-1", "--format=%(trailers:key=Switchyard-Deferred,valueonly)", "switchyard/T")
}

// TestCommitNamesDeferredFindings tests the trailers of a run and of a fleet, which name
// what any review of the task deferred, and the counters.
func TestCommitNamesDeferredFindings(t *testing.T) {
	sequential(t)
	t.Parallel()
	reviews := []fakeagent.Scenario{fakeagent.Finds(append(nits("a.go", 1), wrong())...), fakeagent.Finds(append(nits("b: c.go", 2), nits("draft.txt", 2)...)...)}
	check := func(s *runSite) {
		t.Helper()
		list, err := s.engine(t).Findings(t.Context(), "T", 0, true)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, f := range list.Findings {
			want += fmt.Sprintf("%s nit style %s\n", f.Fingerprint, f.Location())
		}
		if got := s.deferredTrailers(t) + "\n"; got != want || strings.Count(got, "\n") != 3 {
			t.Errorf("the trailers are\n%s\nwant\n%s", got, want)
		}
		x, err := s.engine(t).ExplainCommit(t.Context(), "switchyard/T")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(x.Commit.Deferred, "\n") + "\n"; got != want {
			t.Errorf("explain names\n%s\nwant\n%s", got, want)
		}
		c := counted{summarized: summarized{T: t, Engine: s.engine(t)}}
		c.want(counters.Findings(), map[string]int64{"missing-test/fail/executor": 1})
		c.want(counters.Deferred(), map[string]int64{"nit": 3})
		c.want(counters.Induced(), map[string]int64{"": 1})
		c.want(counters.Commits(), map[string]int64{"risk": 1})
	}
	s := deferringSite(t, reviews...)
	s.ends(t, api.RunRequest{}, "commit", "")
	check(s)
	f := newFleet(t, deferringSite(t, reviews...))
	if p := f.run(t, api.RunRequest{}); p.NextAction != "commit" {
		t.Fatalf("the fleet ends with %s: %v", p.NextAction, p.Error)
	}
	f.git(t, "fetch", "-q", f.worker, "switchyard/T:switchyard/T")
	check(f.runSite)
}

func TestCommitNamesTheFirstDeferredFindings(t *testing.T) {
	sequential(t)
	t.Parallel()
	lines := make([]int, 1005)
	for i := range lines {
		lines[i] = i + 1
	}
	s := deferringSite(t, fakeagent.Finds(nits(strings.Repeat("é", 300), lines...)...))
	s.ends(t, api.RunRequest{}, "commit", "")
	got := strings.Split(s.deferredTrailers(t), "\n")
	if n := len(got); n != 1001 || got[1000] != "and 5 more" {
		t.Fatalf("%d trailers, the last is %q", n, got[n-1])
	}
	if want := " nit style " + strings.Repeat("é", 200) + "…"; slices.ContainsFunc(got[:1000], func(line string) bool { return !strings.HasSuffix(line, want) }) {
		t.Errorf("got %q", got)
	}
}
