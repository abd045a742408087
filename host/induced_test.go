package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// at returns findings in lines of draft.txt, 0 for no line.
func at(lines ...int) fakeagent.Scenario {
	var all []fakeagent.Finding
	for _, line := range lines {
		f := wrong()
		f.File, f.Line, f.Remediation = "draft.txt", line, fmt.Sprintf("Test line %d", line)
		all = append(all, f)
	}
	return fakeagent.Finds(all...)
}

// induced returns which findings of task T's decision of a round are induced, by their
// lines, and their number; "unknown" if the decision does not say.
func (s *runSite) induced(t testing.TB, round int) string {
	t.Helper()
	x, err := s.engine(t).Explain(t.Context(), "T", round)
	if err != nil {
		t.Fatal(err)
	}
	return inducedIn(x.Decision.Findings, x.Decision.InducedCount)
}

func inducedIn(findings []finding.Finding, count *int) string {
	of := make(map[int]bool)
	for _, f := range findings {
		line := 0
		if f.Line != nil {
			line = *f.Line
		}
		if f.Induced != nil {
			of[line] = *f.Induced
		}
	}
	if count == nil {
		if len(of) > 0 {
			return fmt.Sprintf("%v, and no count", of)
		}
		return "unknown"
	}
	return fmt.Sprintf("%v: %d", of, *count)
}

// growing is a script in which every draft adds a line to draft.txt.
func growing() roles {
	return roles{
		"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()},
		"critic": {at(1), at(1, 2, 0), at(1, 2, 3), fakeagent.Clean()},
	}
}

var wantGrowing = []string{"unknown", "map[0:false 1:false 2:true]: 1", "map[1:false 2:false 3:true]: 1", "map[]: 0"}

func TestInduced(t *testing.T) {
	sequential(t)
	t.Parallel()
	for name, config := range map[string]string{"unverified": once, "verified": once + "verify: \"true\"\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, config, growing())
			s.ends(t, api.RunRequest{MaxRounds: 5}, "commit", "")
			fleet := newFleet(t, newRunSite(t, config, growing()))
			if p := fleet.run(t, api.RunRequest{MaxRounds: 5}); p.NextAction != "commit" {
				t.Fatalf("the fleet ends with %s: %v", p.NextAction, p.Error)
			}
			for i, want := range wantGrowing {
				if got := s.induced(t, i+1); got != want {
					t.Errorf("round %d: got %s, want %s", i+1, got, want)
				}
				if got := fleet.induced(t, i+1); got != want {
					t.Errorf("round %d of a fleet: got %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

// TestInducedInTheCheckout tests rounds in a person's checkout: of critics that Switchyard
// runs, and of reports that it is given.
func TestInducedInTheCheckout(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once+"max_rounds: 20\n", roles{"critic": {at(1), at(1, 2), at(2), at(1), at(2), at(2), at(2), at(4)}})
	round := func(edit string, reports ...api.ReportRef) api.Decision {
		t.Helper()
		if edit != "" {
			s.write(t, "draft.txt", edit)
		}
		r, err := s.engine(t).Round(t.Context(), "T", api.Request{Spawn: len(reports) == 0, Reports: reports})
		if err != nil {
			t.Fatal(err)
		}
		return r.Decision
	}
	check := func(what string, d api.Decision, want string) {
		t.Helper()
		if got := inducedIn(d.Findings, d.InducedCount); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	check("the first review", round("1\n2\n3\n"), "unknown")
	d := round("1\ntwo\n3\n")
	check("an edited line", d, "map[1:false 2:true]: 1")
	if d.Findings[0].FirstSeen != 1 || d.Findings[1].FirstSeen != 2 {
		t.Errorf("the findings were first seen in rounds %d and %d", d.Findings[0].FirstSeen, d.Findings[1].FirstSeen)
	}
	s.git(t, "gc", "-q")
	check("the same draft", round(""), "map[2:false]: 0")
	report := filepath.Join(s.home, "report.json")
	if err := os.WriteFile(report, []byte(`{"critic":"critic","findings":[{"category":"style","file":"draft.txt","line":1}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	check("a report that was given", round("one\ntwo\n3\n", api.ReportRef{Plugin: "np-critic", Path: report}), "unknown")
	check("the review after it", round("one\ntwo\nthree\n"), "unknown")
	check("the one after that", round("one\n2\nthree\n"), "map[2:true]: 1")
	s.git(t, "gc", "-q", "--prune=now")
	check("a draft that is gone", round("one\n2\n3\n"), "unknown")
	if _, err := s.engine(t).Start(t.Context(), "T", api.StartRequest{Force: &task.Force{Reason: "again", By: "tester"}}); err != nil {
		t.Fatal(err)
	}
	check("after a start", round("one\n2\n3\nfour\n"), "unknown")
}

func TestInducedWithoutGit(t *testing.T) {
	t.Parallel()
	s := newSite(t, once, at(1), at(1))
	for range 2 {
		r, err := s.engine(t, time.Now).Round(t.Context(), "T", api.Request{Spawn: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := inducedIn(r.Decision.Findings, r.Decision.InducedCount); got != "unknown" {
			t.Errorf("got %s", got)
		}
	}
}

// TestInducedByACommand tests reviews without a critic: a command finds what is wrong with
// the line that the round has added.
func TestInducedByACommand(t *testing.T) {
	t.Parallel()
	report := `'{"critic":"style","findings":[{"category":"style","file":"draft.txt","line":%d}]}'`
	s := newRunSite(t, "max_rounds: 3\nreports:\n  - run: |\n      printf "+report+" $SWITCHYARD_ROUND\n    plugin: np-critic\n",
		roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}})
	s.ends(t, api.RunRequest{}, "stuck", "")
	for i, want := range []string{"unknown", "map[2:true]: 1", "map[3:true]: 1"} {
		if got := s.induced(t, i+1); got != want {
			t.Errorf("round %d: got %s, want %s", i+1, got, want)
		}
	}
}
