package host_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestHostStampsTheCritic checks that the engine records attestations of what it observed
// of its agents.
func TestHostStampsTheCritic(t *testing.T) {
	t.Parallel()
	s := newSite(t, unconfined, fakeagent.Clean()) // In a sandbox it sees another number.
	if _, err := s.round(t); err != nil {
		t.Fatal(err)
	}
	attestations, trail, calls := s.attestationsOf(t, task.AgentCritic), s.trailOf(t), s.calls(t)
	if len(attestations) != 1 || len(trail) != 1 || len(calls) != 1 {
		t.Fatalf("%d attestations, %d records, %d calls; want one each", len(attestations), len(trail), len(calls))
	}
	attestation := attestations[0]
	if attestation.Source != task.ByHost || attestation.By != "switchyard" || attestation.Round != 1 || attestation.ToolUses != 2 || attestation.Audited || attestation.Violation != "" {
		t.Errorf("the attestation is %+v", attestation)
	}
	want := task.Spawn{PID: calls[0].PID, Session: "fake-session-1", Trail: digest.Of([]byte(trail[0]))}
	if attestation.Spawn == nil || *attestation.Spawn != want {
		t.Errorf("the host saw %+v, want %+v", attestation.Spawn, want)
	}
	run, _ := calls[0].Variable("SWITCHYARD_RUN")
	if attestation.Run != run || runOf(t, trail[0]) != run {
		t.Errorf("run %q is stamped as %q, and on the trail as %q", run, attestation.Run, runOf(t, trail[0]))
	}
}

// TestHostStampsAreEvidence checks that an agent run by the engine needs no manual
// attestation.
func TestHostStampsAreEvidence(t *testing.T) {
	t.Parallel()
	for _, verification := range []string{"", verifies} {
		s := newSite(t, once+"evidence: stamps\naudit: {agents: []}\n"+verification, fakeagent.Clean())
		if _, err := s.round(t); errs.CodeOf(err) != errs.EvidenceMissing {
			t.Errorf("without an executor's attestation, the round says %v", err)
		}
		if got := len(s.calls(t)); got != 0 {
			t.Fatalf("%d agents ran for a round that could not be entered", got)
		}
		if _, err := s.engine(t, time.Now).Audit(t.Context(), "T", api.AuditRequest{Agent: task.AgentExecutor}); err != nil {
			t.Fatal(err)
		}
		if d, err := s.round(t); err != nil || d.NextAction != "commit" {
			t.Errorf("the round leads to %s, %v", d.NextAction, err)
		}
	}
}

// TestRule9OfResearchers checks that the search-before-write rule uses the tools that the
// engine saw a researcher use.
func TestRule9OfResearchers(t *testing.T) {
	t.Parallel()
	searched := fakeagent.Presets()["researcher"]
	idle := searched
	idle.Steps = slices.DeleteFunc(slices.Clone(idle.Steps), func(step fakeagent.Step) bool { return step.Tool != nil })
	for _, c := range []struct {
		name        string
		researchers []fakeagent.Scenario
		violations  int
	}{
		{"all searched", []fakeagent.Scenario{searched, searched, searched}, 0},
		{"one did not", []fakeagent.Scenario{searched, idle, searched}, 1},
		{"none did", []fakeagent.Scenario{idle, idle, idle}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := append([]fakeagent.Scenario{fakeagent.Finds(missing())}, c.researchers...)
			s := newSite(t, once, append(script, fakeagent.Clean())...)
			if d, err := s.round(t); err != nil || d.NextAction != "researcher" {
				t.Fatalf("the first round leads to %s, %v", d.NextAction, err)
			}
			violations := 0
			attestations := s.attestationsOf(t, task.AgentResearcher)
			for _, attestation := range attestations {
				if !attestation.Audited || attestation.Source != task.ByHost || attestation.Round != 2 || (attestation.Credited == 0) != (attestation.Violation == task.NoSearch) {
					t.Errorf("a researcher's attestation is %+v", attestation)
				}
				if attestation.Violation != "" {
					violations++
				}
			}
			if len(attestations) != 3 || violations != c.violations {
				t.Errorf("%d attestations, %d violations; want 3 and %d", len(attestations), violations, c.violations)
			}
			d, err := s.round(t)
			if err != nil {
				t.Fatal(err)
			}
			ruled := 0
			for _, f := range d.Findings {
				if f.Category == task.CategoryRule9 && strings.Contains(f.Remediation, task.AgentResearcher) {
					ruled++
				}
			}
			// Several violations make one finding.
			if want := min(c.violations, 1); ruled != want || len(d.Findings) != want || (d.NextAction == "commit") != (want == 0) {
				t.Errorf("the next round has the findings %+v and leads to %s", d.Findings, d.NextAction)
			}
		})
	}
}

// TestReportRefusedByThePlugin checks that a report that the plugin rejects is not a
// review. The critic gets the reason and is asked again.
func TestReportRefusedByThePlugin(t *testing.T) {
	t.Parallel()
	broken := fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}},
		fakeagent.Step{Report: &fakeagent.Report{Findings: []fakeagent.Finding{wrong()}, Object: fakeagent.Object{Set: map[string]any{
			"findings": []any{map[string]any{"category": "missing-test", "line": "seven", "remediation": "Test the empty list"}},
		}}}}, fakeagent.Step{Final: &fakeagent.Final{}})
	s := newSite(t, "spawn: {retries: 1}\n", broken, fakeagent.Finds(wrong()))
	d, err := s.round(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Spawns) != 2 || d.Spawns[0].Outcome != "critic-error" || d.Spawns[0].Reason != "report-invalid" || d.Spawns[1].Outcome != "findings" {
		t.Errorf("the attempts are %+v", d.Spawns)
	}
	if d.NextAction != "executor" {
		t.Errorf("the round leads to %s", d.NextAction)
	}
	calls := s.calls(t)
	if len(calls) != 2 {
		t.Fatalf("%d agents ran, want 2", len(calls))
	}
	first, second := string(calls[0].Stdin), string(calls[1].Stdin)
	if strings.Contains(first, "not accepted") || !strings.Contains(second, "not accepted") || !strings.Contains(second, "line must be") {
		t.Errorf("the second critic is not told why the first was refused:\n%s", second)
	}
	if attestations := s.attestationsOf(t, task.AgentCritic); len(attestations) != 1 {
		t.Errorf("%d critics are stamped, want the one that did its work", len(attestations))
	}

	s = newSite(t, "spawn: {retries: 1}\n", broken)
	if d, err = s.round(t); err != nil || d.NextAction != "stuck" || len(d.Spawns) != 2 {
		t.Errorf("a critic that does not learn leads to %s after %d attempts, %v", d.NextAction, len(d.Spawns), err)
	}
}

// TestVerificationsAreReportedByTask checks that the progress of verifications, which can run
// at once, says which task each is of.
func TestVerificationsAreReportedByTask(t *testing.T) {
	t.Parallel()
	s := newSite(t, verifies, fakeagent.Clean(), fakeagent.Clean())
	got := make(map[string]string)
	e := s.observed(t, func(p spawner.Progress) {
		if p.Adapter == "" {
			got[p.Run] = p.Task
		}
	})
	for _, id := range []string{"T", "U"} {
		if _, err := e.Round(t.Context(), id, host.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if tasks := slices.Sorted(maps.Values(got)); !slices.Equal(tasks, []string{"T", "U"}) {
		t.Errorf("verifications by run: %q", got)
	}
}

// TestVerificationAndReviewAreOfOneDraft checks that a draft that changes after its
// verification counts as unverified, whatever the critic reports.
func TestVerificationAndReviewAreOfOneDraft(t *testing.T) {
	t.Parallel()
	s := newSite(t, "spawn: {retries: 0, concurrency: 1}\n"+verifies, fakeagent.Clean())
	// Another critic holds the only lease, which delays this one.
	other := s.occupied(t, "critic")
	edited := false
	e := s.observed(t, func(p spawner.Progress) {
		if p.Phase == spawner.Queued {
			edited = true
			s.write(t, "a.go", "package b\n")
			if err := other.Release(); err != nil {
				t.Error(err)
			}
		}
	})
	d, err := e.Round(t.Context(), "T", host.Request{})
	if !edited {
		t.Fatal("nobody edited the draft")
	}
	if err == nil && d.NextAction == "commit" {
		t.Error("a draft is committed that nobody verified")
	}
	if errs.CodeOf(err) != errs.RoundShifted {
		t.Errorf("got %v, want %s", err, errs.RoundShifted)
	}
	// The next command verifies and reviews the current draft.
	if d, err := s.round(t); err != nil || d.NextAction != "commit" {
		t.Errorf("the next round leads to %s, %v", d.NextAction, err)
	}
	if got := s.lines(t, verified); got != 2 {
		t.Errorf("%d verifications ran, want 2", got)
	}
}
