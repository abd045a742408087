package task_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func TestHalt(t *testing.T) {
	halt := task.StopTask{Reason: "user-requested", By: "somebody", FindingCount: -1}
	t.Run("a person stops a task", func(t *testing.T) {
		s := do(t, inRound2(t), halt)
		if s.Status != task.Stuck || *s.Stop != (task.Stop{Round: 2, Reason: "user-requested", By: "somebody", FindingCount: 1}) {
			t.Errorf("%+v", s.Stop)
		}
	})
	t.Run("a policy's stop names the policy", func(t *testing.T) {
		s := decide(t, do(t, task.State{}, begin), toStuck)
		if *s.Stop != (task.Stop{Round: 1, Reason: "max-rounds", By: "routing@1.2.0", FindingCount: 2}) {
			t.Errorf("%+v", s.Stop)
		}
	})
	t.Run("a task that nobody knows", func(t *testing.T) {
		if s := do(t, task.State{}, halt); s.Round != 1 || s.Stop.FindingCount != 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("the raised cap is forgotten", func(t *testing.T) {
		forget := halt
		forget.ForgetCap = true
		if s := do(t, task.State{}, task.StartWork{MaxRounds: 8, Fallback: 3}, forget, begin); s.MaxRounds != 4 || s.CustomCap {
			t.Errorf("cap %d", s.MaxRounds)
		}
	})
	t.Run("the raised cap stays", func(t *testing.T) {
		if s := do(t, task.State{}, task.StartWork{MaxRounds: 8, Fallback: 3}, halt, begin); s.MaxRounds != 8 || !s.CustomCap {
			t.Errorf("cap %d", s.MaxRounds)
		}
	})
	t.Run("a question ends with it", func(t *testing.T) {
		s := do(t, standing(t)[task.Waiting], halt)
		refuse(t, s, task.AnswerQuestion{Text: "yes"}, errs.TaskStuck)
		refuse(t, s, task.AnswerQuestion{Round: 1, Text: "yes"}, errs.QuestionStale)
	})
}

func TestResume(t *testing.T) {
	// Stuck in round 4 of 3: the cap was lowered before.
	past := do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 4, MaxRounds: 3, Stop: &task.Stop{Round: 4, Reason: "elsewhere"}}})
	stuck := decide(t, inRound2(t), toStuck)
	for name, c := range map[string]struct {
		from    task.State
		mode    task.Mode
		round   int
		cap     int
		raised  bool
		drafter string
	}{
		"more rounds":               {stuck, task.MoreRounds, 3, 8, true, task.AgentFixer},
		"more rounds, past the cap": {past, task.MoreRounds, 5, 9, true, task.AgentFixer},
		"replan":                    {stuck, task.Replan, 3, 5, false, task.AgentExecutor},
		"manual":                    {stuck, task.Manual, 3, 5, false, ""},
		"reset":                     {stuck, task.Reset, 3, 5, false, task.AgentExecutor},
	} {
		t.Run(name, func(t *testing.T) {
			s := do(t, c.from, task.ResumeTask{Mode: c.mode, Rounds: 5, Fallback: 3, Reason: "go on", By: "somebody"})
			if s.Status != task.Open || s.Round != c.round || s.MaxRounds != c.cap || s.CustomCap != c.raised || s.DraftAgent() != c.drafter || s.Stop != nil || s.Phase != "" {
				t.Errorf("%+v", s)
			}
			// The next round is the build-fixer's, whoever drafted this one.
			if s = decide(t, s, onRed); s.DraftAgent() != task.AgentFixer {
				t.Errorf("round %d is drafted by %q", s.Round, s.DraftAgent())
			}
		})
	}
	t.Run("a manual draft needs no stamp", func(t *testing.T) {
		s := do(t, stuck, task.ResumeTask{Mode: task.Manual, Fallback: 3}, task.RecordVerification{})
		if s.Overrides != 0 {
			t.Error("it counts as an override")
		}
		if _, code := enter(s, task.RoundEntry{Phases: []task.Phase{task.Draft, task.Review}}); code != errs.EvidenceMissing {
			t.Errorf("and yet its review wants the critic, not %q", code)
		}
	})
	t.Run("rounds that no task may have", func(t *testing.T) {
		refuse(t, past, task.ResumeTask{Mode: task.MoreRounds}, errs.RoundsExhausted)
		for _, n := range []int{-1, 98, 1000, int(^uint(0) >> 1)} {
			refuse(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: n}, errs.RoundsExhausted)
		}
		do(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: 97})
	})
	t.Run("no known way", func(t *testing.T) {
		if e, err := task.Decide(stuck, task.ResumeTask{Mode: "quietly", Fallback: 3}); err == nil {
			t.Errorf("%+v", e)
		}
	})
}

func TestCaps(t *testing.T) {
	for name, c := range map[string]struct {
		command task.StartWork
		want    int
		code    errs.Code
	}{
		"the project's cap": {task.StartWork{Fallback: 5}, 5, ""},
		"the caller's":      {task.StartWork{MaxRounds: 7, Fallback: 5}, 7, ""},
		"the lowest":        {task.StartWork{MaxRounds: 1, Fallback: 5}, 1, ""},
		"the highest":       {task.StartWork{MaxRounds: 100, Fallback: 5}, 100, ""},
		"too high":          {task.StartWork{MaxRounds: 101, Fallback: 5}, 0, errs.RoundsExhausted},
		"too low":           {task.StartWork{MaxRounds: -1, Fallback: 5}, 0, errs.RoundsExhausted},
		"nobody sets one":   {task.StartWork{}, 0, errs.RoundsExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			if c.code != "" {
				refuse(t, task.State{}, c.command, c.code)
			} else if s := do(t, task.State{}, c.command); s.MaxRounds != c.want {
				t.Errorf("cap %d", s.MaxRounds)
			}
		})
	}
	t.Run("an own cap without rounds left", func(t *testing.T) {
		s := do(t, task.State{}, task.StartWork{MaxRounds: 1, Fallback: 3}, task.StopTask{Reason: "enough"}, begin)
		if s.MaxRounds != 4 || s.CustomCap {
			t.Errorf("cap %d", s.MaxRounds)
		}
	})
	t.Run("round 100 is the last", func(t *testing.T) {
		last := do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 100, MaxRounds: 100}})
		refuse(t, last, toward(t, last, toExecutor), errs.RoundsExhausted)
		stuck := decide(t, last, toStuck)
		refuse(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: 1}, errs.RoundsExhausted)
		refuse(t, stuck, begin, errs.RoundsExhausted)
		decide(t, last, final(verified(toCommit, "green")))
	})
}

func TestHardCap(t *testing.T) {
	started := task.StartWork{Fallback: 3}
	stop := task.StopTask{Reason: "enough"}
	more := task.ResumeTask{Mode: task.MoreRounds, Rounds: 2, Fallback: 3}
	for name, c := range map[string]struct {
		commands []task.Command
		want     int
	}{
		"twice the cap":                            {[]task.Command{started}, 6},
		"twice the caller's cap":                   {[]task.Command{task.StartWork{MaxRounds: 5, Fallback: 3}}, 10},
		"at most 100":                              {[]task.Command{task.StartWork{MaxRounds: 60}}, 100},
		"the project's":                            {[]task.Command{task.StartWork{Fallback: 3, HardCap: 4}}, 4},
		"not below the caller's cap":               {[]task.Command{task.StartWork{MaxRounds: 5, HardCap: 4}}, 5},
		"a restart counts it like the cap":         {[]task.Command{started, stop, task.StartWork{Fallback: 3, HardCap: 4}}, 5},
		"more rounds raise it":                     {[]task.Command{started, stop, more}, 10},
		"a resume does not lower it":               {[]task.Command{task.StartWork{Fallback: 3, HardCap: 40}, stop, more}, 40},
		"an import":                                {[]task.Command{task.ImportTask{TaskImported: task.TaskImported{Round: 2, MaxRounds: 4}}}, 8},
		"an import with the hard cap of a project": {[]task.Command{task.ImportTask{TaskImported: task.TaskImported{Round: 2, MaxRounds: 4, HardCap: 5}}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			if s := do(t, task.State{}, c.commands...); s.HardCap != c.want {
				t.Errorf("hard cap %d, want %d", s.HardCap, c.want)
			}
		})
	}
	t.Run("the first decision takes the project's, and later ones do not", func(t *testing.T) {
		s := do(t, task.State{}, ran(task.AgentExecutor))
		for _, project := range []int{5, 50} {
			round, code := enter(s, task.RoundEntry{Fallback: 3, HardCap: project})
			if code != "" || round.HardCap != 5 {
				t.Fatalf("%+v, %q", round, code)
			}
			o := toExecutor
			o.Round = round
			s = do(t, s, o)
		}
	})
	t.Run("the cap is passed, and the hard cap is not", func(t *testing.T) {
		s := do(t, task.State{}, task.StartWork{MaxRounds: 1})
		s = decide(t, s, toExecutor)
		err := refuse(t, s, toward(t, s, toExecutor), errs.RoundsExhausted)
		if err.Details["limit"] != 2 {
			t.Errorf("details %v", err.Details)
		}
		decide(t, s, toStuck)
	})
	t.Run("events of older versions have none", func(t *testing.T) {
		old := task.RoundDecided{Round: 1, NextRound: 2, MaxRounds: 3, NextAction: "executor", DestinationKind: "agent", Reviewed: true, Verify: "absent"}
		s, err := task.Apply(task.State{}, old)
		if err != nil {
			t.Fatal(err)
		}
		if r, code := enter(s, task.RoundEntry{Fallback: 3, HardCap: 50}); code != "" || r.HardCap != 6 {
			t.Errorf("%+v, %q", r, code)
		}
	})
}

func TestOnlyAResumeChangesTheCap(t *testing.T) {
	s := do(t, task.State{}, task.StartWork{MaxRounds: 3})
	for _, rounds := range []int{2, 4, 101, -1} {
		_, err := task.EnterRound(s, task.RoundEntry{MaxRounds: rounds, Fallback: 3})
		if errs.CodeOf(err) != errs.CapFixed || !strings.Contains(err.Error(), "the task's cap is 3 rounds") {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	}
	if r, code := enter(s, task.RoundEntry{MaxRounds: 3}); code != "" || r.MaxRounds != 3 || !r.CustomCap {
		t.Errorf("%+v, %q", r, code)
	}
	s = do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.MoreRounds, Rounds: 1, Fallback: 3})
	if _, code := enter(s, task.RoundEntry{MaxRounds: 3}); code != errs.CapFixed {
		t.Errorf("the old cap after a resume: %q", code)
	}
	if s = do(t, s, task.StartWork{MaxRounds: 7, Force: force}); s.MaxRounds != 7 {
		t.Errorf("a restart has a cap of %d", s.MaxRounds)
	}
}

func TestImport(t *testing.T) {
	i := task.TaskImported{
		Source: "other", Round: 3, MaxRounds: 5, CustomCap: true, Overrides: 2, By: "somebody",
		Violations: []task.Violation{{Round: 2, Agent: task.AgentExecutor, Kind: task.NoSearch}},
	}
	s := do(t, task.State{}, task.ImportTask{TaskImported: i})
	if s.Status != task.Open || s.Round != 3 || s.MaxRounds != 5 || !s.CustomCap || s.Overrides != 2 || len(s.AuditFindings()) != 1 || s.DraftAgent() != task.AgentFixer {
		t.Errorf("%+v", s)
	}
	if !s.Verifies || s.Verified != nil || len(s.Attestations) != 0 || s.Last != nil {
		t.Errorf("it brings evidence along: %+v", s)
	}
	t.Run("without a cap it gets the project's", func(t *testing.T) {
		s := do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 1}})
		if r, code := enter(s, task.RoundEntry{Fallback: 4}); code != "" || r.MaxRounds != 4 || r.CustomCap {
			t.Errorf("%+v, %q", r, code)
		}
	})
	t.Run("out of range", func(t *testing.T) {
		refuse(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 1, MaxRounds: 101}}, errs.RoundsExhausted)
		refuse(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 101, MaxRounds: 100}}, errs.RoundsExhausted)
		for _, round := range []int{0, -1} {
			if e, err := task.Decide(task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: round, MaxRounds: 3}}); err == nil {
				t.Errorf("%+v", e)
			}
		}
	})
}
