package host_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// clock is the system's clock, moved ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// usageLimit is an agent that meets a limit that ends in an hour.
func usageLimit() fakeagent.Scenario { return fakeagent.Presets()["usage-limit"] }

// says is an agent that says this and edits nothing.
func says(text string) fakeagent.Scenario {
	return fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Final: &fakeagent.Final{Text: &text}})
}

func found(category string) fakeagent.Scenario {
	f := wrong()
	f.Category = category
	return fakeagent.Finds(f)
}

// parkSite creates a project with a clock.
func parkSite(t *testing.T, config string, agents roles) (*runSite, *clock) {
	c := &clock{}
	s := newRunSite(t, config, agents)
	s.now = c.now
	return s, c
}

// TestRunParks checks for each role that an agent's usage limit parks the task, burns
// neither its round nor its attempts, and that the task goes on once the limit is over.
func TestRunParks(t *testing.T) {
	t.Parallel()
	for role, c := range map[string]struct {
		agents roles
		// parked are the calls until then, and round is the round of the task.
		parked []string
		round  int
		// after are the calls afterwards.
		after  []string
		rounds int
	}{
		"executor": {oneRound(fakeagent.Edits()), []string{"executor 1"}, 1, []string{"executor 1", "critic 1"}, 1},
		"critic":   {oneRound(fakeagent.Edits()), []string{"executor 1", "critic 1"}, 1, []string{"critic 1"}, 1},
		"build-fixer": {twoRounds(), []string{"executor 1", "critic 1", "build-fixer 2"}, 2,
			[]string{"build-fixer 2", "critic 2"}, 2},
		"researcher": {
			roles{"executor": {fakeagent.Edits()}, "critic": {found("information-missing"), fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()}, "researcher": {fakeagent.Presets()["researcher"]}},
			[]string{"executor 1", "critic 1", "researcher 2"}, 2, []string{"researcher 2", "build-fixer 2", "critic 2"}, 2,
		},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			s, clock := parkSite(t, "spawn: {retries: 2}\nresearch: {agents: 1}\n", nil)
			limited := roles{}
			for name, scenarios := range c.agents {
				limited[name] = scenarios
			}
			limited[role] = []fakeagent.Scenario{usageLimit()}
			s.play(t, limited)
			r := s.ends(t, api.RunRequest{}, "parked", "")
			s.wasCalled(t, c.parked...)
			if shown := s.events.of(api.RunAgent); len(shown) != len(c.parked) {
				t.Errorf("the run shows %d agents, want %q", len(shown), c.parked)
			}
			until, err := time.Parse(time.RFC3339, r.Until)
			if left := until.Sub(clock.now()); err != nil || left < time.Hour || left > time.Hour+2*time.Minute || r.Status != task.Parked || r.Round != c.round {
				t.Errorf("it is %s until %s in round %d, in %s", r.Status, r.Until, r.Round, left)
			}
			s.play(t, c.agents)
			clock.forward(59 * time.Minute)
			if again := s.ends(t, api.RunRequest{Wait: time.Second}, "parked", ""); again.Until != r.Until {
				t.Errorf("it is parked until %s, was until %s", again.Until, r.Until)
			}
			s.wasCalled(t)
			clock.forward(3 * time.Minute)
			s.ends(t, api.RunRequest{}, "commit", "")
			s.wasCalled(t, c.after...)
			for _, run := range s.committed(t, c.rounds).Runs {
				if run.Attempt != 1 && !run.Stale {
					t.Errorf("%s is at attempt %d", run.Role, run.Attempt)
				}
			}
		})
	}
}

// TestRunCountsEditsBeforeALimit: an agent that met its limit after its edits has nothing left
// to do afterwards, and its prompt says that there are edits.
func TestRunCountsEditsBeforeALimit(t *testing.T) {
	t.Parallel()
	limited := editsThenFails(*usageLimit().Steps[1].Fail)
	for role, c := range map[string]struct {
		agents roles
		round  int
	}{
		"executor": {oneRound(fakeagent.Edits()), 1}, "build-fixer": {twoRounds(), 2},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c.agents[role] = []fakeagent.Scenario{limited}
			s, clock := parkSite(t, once, c.agents)
			s.ends(t, api.RunRequest{}, "parked", "")
			clock.forward(2 * time.Hour)
			c.agents[role] = []fakeagent.Scenario{fakeagent.Executes()}
			s.play(t, c.agents)
			s.ends(t, api.RunRequest{}, "commit", "")
			if text := s.prompts(t, role, c.round); !strings.Contains(text, "check its edits") {
				t.Errorf("the prompt does not say that there are edits:\n%s", text)
			}
			s.committed(t, c.round)
		})
	}
}

// TestRunParksAPlanChecker: it keeps the decision that sent the task there.
func TestRunParksAPlanChecker(t *testing.T) {
	t.Parallel()
	agents := roles{"executor": {fakeagent.Edits()}, "critic": {found("infrastructure-mismatch")}, "plan-checker": {usageLimit()}}
	s, clock := parkSite(t, once, agents)
	s.ends(t, api.RunRequest{}, "parked", "")
	s.wasCalled(t, "executor 1", "critic 1", "plan-checker 1")
	clock.forward(2 * time.Hour)
	agents["plan-checker"], agents["critic"] = []fakeagent.Scenario{says(`{"plan": "Return early."}`)}, []fakeagent.Scenario{fakeagent.Clean()}
	s.play(t, agents)
	s.ends(t, api.RunRequest{}, "commit", "")
	s.wasCalled(t, "plan-checker 1", "executor 1", "critic 1")
}

// TestRunWaitsForALimit: with Wait it goes on by itself once the time is over.
func TestRunWaitsForALimit(t *testing.T) {
	sequential(t)
	t.Parallel()
	s, clock := parkSite(t, once, nil)
	s.plays(t, usageLimit(), fakeagent.Edits(), fakeagent.Clean())
	var parked, reads atomic.Int64
	s.now = func() time.Time {
		if parked.Load() > 0 && reads.Add(1) == 4 { // The run waits by now.
			clock.forward(2 * time.Hour)
		}
		return clock.now()
	}
	r, err := s.engine(t).Run(t.Context(), "T", api.RunRequest{Prompt: runPrompt, Wait: 2 * time.Hour, Observe: func(ev api.RunEvent) {
		if ev.Event == api.RunParked {
			parked.Add(1)
		}
	}})
	if err != nil || r.NextAction != "commit" || parked.Load() != 1 {
		t.Fatalf("the run ends with %s, %v, after it was parked %d times", r.NextAction, err, parked.Load())
	}
	s.committed(t, 1)
	s.wasCalled(t, "executor 1", "executor 1", "critic 1")
}

// TestRunGoesOnIfResumed: a person may end the parking earlier.
func TestRunGoesOnIfResumed(t *testing.T) {
	t.Parallel()
	s, _ := parkSite(t, once, oneRound(usageLimit()))
	s.ends(t, api.RunRequest{}, "parked", "")
	s.play(t, oneRound(fakeagent.Edits()))
	if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.MoreRounds, Rounds: 1}); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 1)
	if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Reset}); errs.CodeOf(err) != errs.TaskCommitted {
		t.Errorf("a resume of a committed task gives %v", err)
	}
}

// TestRunTriesAFallbackBeforeItParks uses an adapter whose limit is not met.
func TestRunTriesAFallbackBeforeItParks(t *testing.T) {
	t.Parallel()
	for _, limits := range []int{1, 2} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			t.Parallel()
			s, _ := parkSite(t, "spawn: {retries: 0, adapter: claude, fallback_on_error: [codex]}\n", nil)
			calls := []fakeagent.Scenario{usageLimit(), fakeagent.Edits(), fakeagent.Clean()}
			if limits == 2 {
				calls[1] = usageLimit()
			}
			s.plays(t, calls...)
			if limits == 2 {
				s.ends(t, api.RunRequest{}, "parked", "")
				s.wasCalled(t, "executor 1", "executor 1")
				return
			}
			s.ends(t, api.RunRequest{}, "commit", "")
			s.committed(t, 1)
			s.wasCalled(t, "executor 1", "executor 1", "critic 1")
		})
	}
}

// TestResumeAfterAParking: until another command is run, a task whose limit is over is still
// shown as parked, so that a resume must not fail.
func TestResumeAfterAParking(t *testing.T) {
	t.Parallel()
	s, clock := parkSite(t, once, roles{"executor": {usageLimit()}})
	s.ends(t, api.RunRequest{}, "parked", "")
	clock.forward(3 * time.Hour)
	if got := s.state(t).Status; got != task.Parked {
		t.Fatalf("the task is %s", got)
	}
	if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Manual}); errs.CodeOf(err) != errs.TaskNotStuck {
		t.Errorf("a resume with a draft by hand gives %v", err)
	}
	r, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{})
	if err != nil || r.Status != task.Open || r.Recorded == nil || s.state(t).Status != task.Open {
		t.Errorf("a resume gives %+v, %v", r, err)
	}
}
