package task_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func ids(runs []task.Run) string {
	text := ""
	for _, r := range runs {
		text += r.Run + " "
	}
	return text
}

func TestARunIsAnnouncedAndClosed(t *testing.T) {
	intent := critic("a")
	intent.Round = 9 // decide overwrites it.
	intent.Reserve, intent.Prompt, intent.Tree = all(5), "sha256:p", "sha256:t"
	s := do(t, inRound2(t), spawning(intent, researcher("b", 2)))
	if intent.Round = 2; s.Runs[0].Intent != intent || ids(s.OpenRuns()) != "a b " || s.LatestRun(task.RoleCritic, 0) != nil {
		t.Errorf("%+v", s.Runs)
	}
	receipt := task.Receipt{
		Run: "a", Outcome: "findings", Used: all(3), Report: "sha256:r", Path: "runs/a/report.json", Output: "sha256:o", Trail: "sha256:x",
		Spawn: &task.Spawn{PID: 7, Session: "s"}, Model: "m",
	}
	s = do(t, s, task.RecordReceipt{Receipt: receipt})
	got := s.LatestRun(task.RoleCritic, 0)
	if got == nil || got.Intent != intent || !reflect.DeepEqual(*got.Receipt, receipt) || ids(s.OpenRuns()) != "b " {
		t.Errorf("%+v", got)
	}
	if s.Status != task.Open || s.Round != 2 || s.Phase != "" || len(s.Attestations) != 0 {
		t.Errorf("its end decides something: %+v", s)
	}
	for _, id := range []string{"a", "", "c"} {
		if err := refuse(t, s, ended(id), errs.SpawnRunUnknown); err.Details["run"] != id {
			t.Errorf("details %v", err.Details)
		}
	}
	refuse(t, task.State{}, ended("a"), errs.SpawnRunUnknown)
}

func TestWhatRanIsFoundAgain(t *testing.T) {
	second := critic("b")
	second.Attempt, second.Why = 2, "retry:overloaded"
	s := do(t, task.State{}, spawning(critic("a")), ended("a"), spawning(second, researcher("r0", 0), researcher("r1", 1)), ended("r1"))
	for _, c := range []struct {
		role     task.Role
		index    int
		newest   string
		attempts int
	}{
		{task.RoleCritic, 0, "a", 2},
		{task.RoleCritic, 1, "", 0},
		{task.RoleResearcher, 0, "", 1},
		{task.RoleResearcher, 1, "r1", 1},
		{task.RoleOther, 0, "", 0},
	} {
		newest := ""
		if r := s.LatestRun(c.role, c.index); r != nil {
			newest = r.Run
		}
		if n := s.Attempts(c.role, c.index); newest != c.newest || n != c.attempts {
			t.Errorf("%s %d: %q after %d attempts; want %q after %d", c.role, c.index, newest, n, c.newest, c.attempts)
		}
	}
	if got := do(t, s, ended("b")).LatestRun(task.RoleCritic, 0); got.Run != "b" {
		t.Errorf("the newest is %s", got.Run)
	}
	// The order of the starts counts: a receipt may come late.
	late := do(t, task.State{}, spawning(critic("a")), spawning(second), ended("b"), lost("a"))
	if got := late.LatestRun(task.RoleCritic, 0); got.Run != "b" {
		t.Errorf("the newest is %s", got.Run)
	}
	got := s.LatestRun(task.RoleCritic, 0)
	got.Stale = true
	if s.LatestRun(task.RoleCritic, 0) == nil {
		t.Error("the answer reaches into the state")
	}
}

// TestARunBelongsToItsDraft checks that a report never counts for a later draft.
func TestARunBelongsToItsDraft(t *testing.T) {
	s := do(t, task.State{}, begin, spawning(critic("a"), critic("b"), researcher("r", 0)), ended("a"), ended("r"))
	green := do(t, s, ran(task.AgentExecutor), task.RecordVerification{}, spawning(critic("c")), ended("c"))
	for name, c := range map[string]struct {
		s                task.State
		critic, research bool
	}{
		"as it is":                {s, true, true},
		"a look":                  {do(t, s, looked("")), true, true},
		"another agent":           {do(t, s, ran(task.AgentResearcher)), true, true},
		"a new draft":             {do(t, s, ran(task.AgentExecutor)), false, true},
		"a fixed draft":           {do(t, s, ran(task.AgentFixer)), false, true},
		"a draft to verify":       {do(t, s, task.BeginVerification{}), false, true},
		"a verified draft":        {do(t, s, task.RecordVerification{Force: force}), false, true},
		"the same draft verified": {do(t, green, task.BeginVerification{Same: true}), true, true},
		"a decision that keeps":   {decide(t, s, toPlanChecker), false, false},
		"a decision to commit":    {decide(t, s, toCommit), false, false},
		"a commit":                {decide(t, s, final(toCommit)), false, false},
		"a decision":              {decide(t, s, toExecutor), false, false},
		"stuck":                   {decide(t, s, toStuck), false, false},
		"put aside":               {do(t, s, task.StopTask{}), true, true},
		"resumed":                 {do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.MoreRounds, Rounds: 2}), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.s.LatestRun(task.RoleCritic, 0) != nil; got != c.critic {
				t.Errorf("the critic's run counts: %t", got)
			}
			if got := c.s.LatestRun(task.RoleResearcher, 0) != nil; got != c.research {
				t.Errorf("the researcher's run counts: %t", got)
			}
			if n := c.s.Attempts(task.RoleCritic, 0); (n > 0) != c.critic {
				t.Errorf("%d attempts count", n)
			}
			// The run that was still open then is as old as the other.
			late := do(t, c.s, ended("b"))
			if got := late.LatestRun(task.RoleCritic, 0) != nil; got != c.critic {
				t.Errorf("a late receipt counts: %t", got)
			}
		})
	}
}

// TestTwoFuturesOfOneState checks that two states folded from one do not affect each
// other.
func TestTwoFuturesOfOneState(t *testing.T) {
	s := do(t, task.State{}, begin)
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		s = do(t, s, spawning(critic(id)))
		one, other := do(t, s, spawning(critic("one"))), do(t, s, spawning(critic("other")))
		last := len(s.Runs)
		if one.Runs[last].Run != "one" || other.Runs[last].Run != "other" {
			t.Fatalf("after %s: %s and %s", id, ids(one.Runs), ids(other.Runs))
		}
		do(t, s, ended(id))
		decide(t, s, toPlanChecker)
		if r := s.Runs[last-1]; r.Receipt != nil || r.Stale {
			t.Fatalf("a future of %s changes it: %+v", id, r)
		}
	}
}

func TestReceiptsComeInAnyStatus(t *testing.T) {
	s := do(t, task.State{}, begin, spawning(critic("a")))
	for name, next := range map[string]task.State{
		"open":      s,
		"waiting":   decide(t, s, asking(false, which)),
		"stuck":     decide(t, s, toStuck),
		"committed": decide(t, s, final(toCommit)),
	} {
		closed := do(t, next, markUsed("a", 3))
		if len(closed.OpenRuns()) != 0 || closed.Spent.Task != all(3) || closed.Spent.Round != all(3) || closed.Status != next.Status {
			t.Errorf("%s: %+v", name, closed)
		}
	}
}

// TestRunsOutsideAnyTask checks that runs by hand alone never create a task.
func TestRunsOutsideAnyTask(t *testing.T) {
	s := do(t, task.State{}, spawning(byHand("a"), byHand("b")), markUsed("a", 3))
	if want := (task.Spending{Task: all(3), Runs: 1}); s.Status != task.NoTask || s.Round != 0 || s.Spent != want || ids(s.Runs) != "b " {
		t.Errorf("%+v", s)
	}
	if empty := do(t, task.State{}, spawning(byHand("a")), ended("a")); empty.Status != task.NoTask || len(empty.Runs) != 0 {
		t.Errorf("%+v", empty)
	}
	for name, c := range map[string]struct {
		s     task.State
		round int
	}{
		"a critic":          {do(t, s, spawning(critic("c"))), 1},
		"a researcher":      {do(t, s, spawning(researcher("c", 0))), 1},
		"a critic, by hand": {do(t, s, spawning(byHand("c"), critic("d"))), 1},
		"a start":           {do(t, s, begin), 1},
		"an import":         {do(t, s, task.ImportTask{TaskImported: task.TaskImported{Round: 3, MaxRounds: 4}}), 3},
	} {
		if c.s.Status != task.Open || c.s.Round != c.round || c.s.StartedRound != 1 || c.s.Spent != s.Spent || c.s.Runs[0].Run != "b" {
			t.Errorf("%s: %+v", name, c.s)
		}
		do(t, c.s, ended("b"))
	}
	refuse(t, s, task.ResumeTask{Mode: task.Replan, Fallback: 3}, errs.TaskNotFound)
	refuse(t, s, task.AnswerQuestion{Text: "yes"}, errs.TaskNotFound)
	refuse(t, s, task.ReserveRuns{Round: 2, Intents: []task.Intent{byHand("c")}}, errs.RoundShifted)
	// An existing task accepts them too, and they count for its budget.
	if s := do(t, inRound2(t), spawning(byHand("a")), markUsed("a", 3)); s.Spent.Round != all(3) || s.LatestRun(task.RoleOther, 0) == nil {
		t.Errorf("%+v", s)
	}
}

func TestReserveRefusesWhatNoCallerShouldAnnounce(t *testing.T) {
	s := do(t, task.State{}, begin, spawning(critic("a")), ended("a"))
	for name, edit := range map[string]func(*task.Intent){
		"no id":                func(i *task.Intent) { i.Run = "" },
		"an id of this round":  func(i *task.Intent) { i.Run = "a" },
		"no role":              func(i *task.Intent) { i.Role = "" },
		"a role that is none":  func(i *task.Intent) { i.Role = "a judge" },
		"no adapter":           func(i *task.Intent) { i.Adapter = "" },
		"no reason":            func(i *task.Intent) { i.Why = "" },
		"attempt 0":            func(i *task.Intent) { i.Attempt = 0 },
		"agent -1":             func(i *task.Intent) { i.Index = -1 },
		"a reserve below zero": func(i *task.Intent) { i.Reserve.Millis = -1 },
	} {
		i := critic("b")
		edit(&i)
		if e, err := task.Decide(s, spawning(i)); e != nil || err == nil || errs.CodeOf(err) != "" {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	for name, c := range map[string]task.Command{
		"nothing":            task.ReserveRuns{},
		"the same id twice":  spawning(critic("b"), critic("b")),
		"no outcome":         task.RecordReceipt{Receipt: task.Receipt{Run: "b"}},
		"used below zero":    task.RecordReceipt{Receipt: task.Receipt{Run: "b", Outcome: "clean", Used: all(-1)}},
		"unknown time":       task.RecordReceipt{Receipt: task.Receipt{Run: "b", Outcome: "clean", Unknown: []string{"ms"}}},
		"the unknown, twice": task.RecordReceipt{Receipt: task.Receipt{Run: "b", Outcome: "clean", Unknown: []string{"tokens", "tokens"}}},
	} {
		from := s
		if _, closes := c.(task.RecordReceipt); closes {
			from = do(t, s, spawning(critic("b")))
		}
		if e, err := task.Decide(from, c); e != nil || err == nil || errs.CodeOf(err) != "" {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	nameless := critic("b")
	nameless.Agent = "../critic"
	refuse(t, s, spawning(nameless), errs.AgentInvalid)
	refuse(t, s, task.ReserveRuns{Round: 2, Intents: []task.Intent{critic("b")}}, errs.RoundShifted)
}
