package host_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestKilledRoundGoesOn checks that a killed round resumes: a run with a receipt is not
// repeated, and the result is the same, once.
func TestKilledRoundGoesOn(t *testing.T) {
	clean, found, asks := fakeagent.Clean(), fakeagent.Finds(wrong()), fakeagent.Finds(missing())
	for _, c := range []struct {
		name, config string
		critic       fakeagent.Scenario
		researchers  int
		want         string
	}{
		{"clean", once + verifies, clean, 0, "commit"},
		{"clean, not verified", once, clean, 0, "commit"},
		{"findings", once + verifies, found, 0, "executor"},
		{"research", once + verifies, asks, 3, "researcher"},
		{"red", once + "verify: echo run >>" + verified + "; false\n", clean, 0, "executor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.config, playing(&c.critic, c.researchers)...)
			left := s.killed(t)
			over := s.state(t)
			if over.Last == nil || over.Last.NextAction != c.want {
				t.Fatalf("undisturbed, the round leads to %+v, want %s", over.Last, c.want)
			}
			resumed, step := 0, exhaustive.Count(4, 1)
			for i := 0; i < len(left); i += step {
				if left[i].goesOn(t, i, over, c.critic) {
					resumed++
				}
			}
			t.Logf("%d of %d kills were before the end", resumed, (len(left)+step-1)/step)
			if resumed < 2 {
				t.Errorf("the round was resumed %d times of %d", resumed, len(left))
			}
		})
	}
}

// goesOn resumes task T after the i-th kill and compares the result with that of the
// undisturbed round. It reports whether anything was left to do.
func (s site) goesOn(t *testing.T, i int, over task.State, critic fakeagent.Scenario) bool {
	t.Helper()
	before := s.state(t)
	decided := before.Last != nil
	research := over.Last.NextAction == "researcher"
	_, err := os.Stat(s.path(".switchyard/handoff/T-r2-research.json"))
	if decided && (!research || err == nil) {
		return false
	}
	runsCritic := !decided && good(before, task.RoleCritic) == 0 && over.Last.Verify != "red"
	researchers := 0
	if research {
		researchers = 3 - good(before, task.RoleResearcher)
	}
	runsVerify := !decided && before.Verified == nil && over.Last.Verify != "absent"
	counted := s.lines(t, verified)

	calls := researchers
	switch {
	case runsCritic:
		s.plays(t, playing(&critic, researchers)...)
		calls++
	case researchers > 0:
		s.plays(t, playing(nil, researchers)...)
	default:
		s.plays(t, fakeagent.Presets()["crash"])
	}
	d, err := s.round(t)
	if err != nil {
		t.Errorf("kill %d: %v", i, err)
		return true
	}
	if got := len(s.calls(t)); got != calls {
		t.Errorf("kill %d: %d agents ran, want %d", i, got, calls)
	}
	if got := s.lines(t, verified) - counted; got > 1 || (got == 1) != runsVerify {
		t.Errorf("kill %d: the verification ran %d times, needed: %v", i, got, runsVerify)
	}
	after := s.state(t)
	if d.NextAction != over.Last.NextAction || d.Reason != over.Last.Reason || after.Status != over.Status || after.Round != over.Round {
		t.Errorf("kill %d: %s (%s), %s in round %d; want %s (%s), %s in round %d", i, d.NextAction, d.Reason, after.Status, after.Round,
			over.Last.NextAction, over.Last.Reason, over.Status, over.Round)
	}
	if open := after.OpenRuns(); len(open) > 0 {
		t.Errorf("kill %d: runs are open still: %+v", i, open)
	}
	if n := s.count(t, task.KindDecided); n != 1 {
		t.Errorf("kill %d: %d decisions are recorded, want 1", i, n)
	}
	if research && (d.Research == nil || d.Research.K != 3 || len(d.Research.Silent) != 0) {
		t.Errorf("kill %d: the research is %+v", i, d.Research)
	}
	return true
}

// between returns a project that was killed after its review was recorded and before its
// decision.
func (s site) between(t *testing.T) site {
	t.Helper()
	var found site
	for _, k := range s.killed(t) {
		if state := k.state(t); state.Last == nil && good(state, task.RoleCritic) == 1 {
			found = k
		}
	}
	if found.root == "" {
		t.Fatal("no kill came between the review and the decision")
	}
	return found
}

// TestReviewIsUsedAgainOnlyAsItWas checks that a resumed round reuses a review only if its
// inputs are unchanged.
func TestReviewIsUsedAgainOnlyAsItWas(t *testing.T) {
	report := func(t *testing.T, s site) string {
		entries, err := os.ReadDir(s.path(".switchyard/reports"))
		if err != nil || len(entries) != 1 {
			t.Fatalf("%d reports are kept: %v", len(entries), err)
		}
		return ".switchyard/reports/" + entries[0].Name()
	}
	for _, c := range []struct {
		name              string
		change            func(*testing.T, site)
		critics, verifies int
	}{
		{"nothing happened", func(*testing.T, site) {}, 0, 0},
		{"a file was edited", func(t *testing.T, s site) { s.write(t, "a.go", "package b\n") }, 1, 1},
		{"a file was added", func(t *testing.T, s site) { s.write(t, "b.go", "package a\n") }, 1, 1},
		{"a file is gone", func(t *testing.T, s site) {
			if err := os.Remove(s.path("a.go")); err != nil {
				t.Fatal(err)
			}
		}, 1, 1},
		{"the report was edited", func(t *testing.T, s site) {
			data, err := os.ReadFile(s.path(report(t, s)))
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, report(t, s), strings.Replace(string(data), "it works", "it flies", 1))
		}, 1, 0},
		{"the report is gone", func(t *testing.T, s site) {
			if err := os.Remove(s.path(report(t, s))); err != nil {
				t.Fatal(err)
			}
		}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, once+verifies, fakeagent.Clean()).between(t)
			counted := s.lines(t, verified)
			c.change(t, s)
			// The new critic disagrees, which shows whose report is used.
			s.plays(t, fakeagent.Finds(wrong()))
			d, err := s.round(t)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(s.calls(t)); got != c.critics {
				t.Errorf("%d critics ran, want %d", got, c.critics)
			}
			if got := s.lines(t, verified) - counted; got != c.verifies {
				t.Errorf("%d verifications ran, want %d", got, c.verifies)
			}
			want := map[int]string{0: "commit", 1: "executor"}[c.critics]
			if d.NextAction != want {
				t.Errorf("the round leads to %s, want %s", d.NextAction, want)
			}
			s.sound(t, "T")
		})
	}
}

// TestReviewIsUsedAgainOnlyForItsDiff checks that a resumed round reuses a review only if the
// draft is still compared with the same commit, for the same task.
func TestReviewIsUsedAgainOnlyForItsDiff(t *testing.T) {
	for _, c := range []struct {
		name     string
		req      host.Request
		restarts bool
		critics  int
	}{
		{"nothing happened", host.Request{}, false, 0},
		{"the same base", host.Request{Base: "HEAD"}, false, 0},
		{"another base", host.Request{Base: "HEAD~1"}, false, 1},
		{"another base at the start of the work", host.Request{}, true, 1},
		{"another description", host.Request{Prompt: "Do more."}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, once, fakeagent.Clean())
			s.git(t, "init", "-q", "--template=")
			s.write(t, ".gitignore", ".switchyard/\n")
			for _, name := range []string{"a.go", "."} {
				s.git(t, "add", name)
				s.git(t, "commit", "-q", "-m", name)
			}
			s.write(t, "b.go", "package a\n")
			ctx, cancel := context.WithCancel(t.Context())
			clock := func() time.Time {
				if good(s.state(t), task.RoleCritic) == 1 {
					cancel()
				}
				return time.Now()
			}
			if _, err := s.engine(t, clock).Round(ctx, "T", host.Request{}); err == nil || s.state(t).Last != nil {
				t.Fatalf("the round was decided: %v", err)
			}
			s.plays(t, fakeagent.Finds(wrong()))
			e := s.engine(t, time.Now)
			if c.restarts {
				if _, err := e.Start(t.Context(), "T", api.StartRequest{Base: "HEAD~1"}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := e.Round(t.Context(), "T", c.req); err != nil {
				t.Fatal(err)
			}
			if got := len(s.calls(t)); got != c.critics {
				t.Errorf("%d critics ran, want %d", got, c.critics)
			}
		})
	}
}

// TestResumedReviewIsNamed checks that the decision names the run of a reused review.
func TestResumedReviewIsNamed(t *testing.T) {
	s := newSite(t, once, fakeagent.Clean()).between(t)
	run := s.state(t).Runs[0].Intent.Run
	d, err := s.round(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Spawns) != 1 || !d.Spawns[0].Resumed || d.Spawns[0].Run != run {
		t.Errorf("the decision rests on %+v, want run %s", d.Spawns, run)
	}
	if _, err := s.round(t); errs.CodeOf(err) != errs.TaskCommitted {
		t.Errorf("the task is done, and a further round says %v", err)
	}
}

// TestSilentResearcherIsReported checks that a resumed round does not ask a failed
// researcher again and reports it as silent.
func TestSilentResearcherIsReported(t *testing.T) {
	asks := fakeagent.Finds(missing())
	mute := fakeagent.Presets()["researcher-mute"]
	s := newSite(t, once, asks, fakeagent.Presets()["researcher"], mute, fakeagent.Presets()["researcher"])
	d, err := s.round(t)
	if err != nil {
		t.Fatal(err)
	}
	if d.Research == nil || d.Research.K != 3 || len(d.Research.Silent) != 1 {
		t.Fatalf("the research is %+v, want one of three silent", d.Research)
	}
	for _, path := range []string{d.Research.Path, d.Research.Data} {
		if info, err := os.Stat(s.path(path)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not there: %v", path, err)
		}
	}
	if got := len(s.calls(t)); got != 4 {
		t.Errorf("%d agents ran, want a critic and three researchers", got)
	}
}
