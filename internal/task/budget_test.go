package task_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// all returns an amount with the same number in each part.
func all(n int64) task.Amount { return task.Amount{Millis: n, Tokens: n, MicroDollars: n} }

// costly returns a critic's run that reserves n of each unit.
func costly(run string, n int64) task.Intent {
	i := critic(run)
	i.Reserve = all(n)
	return i
}

// markUsed ends a run that used n of each unit.
func markUsed(run string, n int64) task.RecordReceipt {
	c := ended(run)
	c.Used = all(n)
	return c
}

// lost ends a run with an unknown result.
func lost(run string) task.RecordReceipt {
	return task.RecordReceipt{Receipt: task.Receipt{Run: run, Outcome: task.OutcomeLost}}
}

func TestBudgets(t *testing.T) {
	// Round 2: 30 are spent by round 1 and 20 by this one, whose open run reserves 5; one
	// of round 1 is still open with 7.
	s := do(t, task.State{}, begin, spawning(costly("a", 40), costly("b", 7)), markUsed("a", 30))
	s = do(t, decide(t, s, toExecutor), spawning(costly("c", 20), costly("d", 5)), markUsed("c", 20))
	for _, unit := range []struct {
		name string
		of   func(int64) task.Amount
	}{
		{"time", func(n int64) task.Amount { return task.Amount{Millis: n} }},
		{"tokens", func(n int64) task.Amount { return task.Amount{Tokens: n} }},
		{"dollars", func(n int64) task.Amount { return task.Amount{MicroDollars: n} }},
	} {
		for _, c := range []struct {
			scope                          string
			limits                         func(n int64) task.Limits
			enough, spent, reserved, wants int64
		}{
			{"task", func(n int64) task.Limits { return task.Limits{Task: unit.of(n)} }, 30 + 20 + 7 + 5 + 8, 50, 12, 8},
			{"round", func(n int64) task.Limits { return task.Limits{Round: unit.of(n)} }, 20 + 5 + 8, 20, 5, 8},
		} {
			t.Run(c.scope+"-"+unit.name, func(t *testing.T) {
				more := []task.Intent{costly("e", 2), costly("f", 6)}
				do(t, s, task.ReserveRuns{Intents: more, Limits: c.limits(c.enough)})
				err := refuse(t, s, task.ReserveRuns{Intents: more, Limits: c.limits(c.enough - 1)}, errs.BudgetExhausted)
				for name, want := range map[string]any{
					"unit": c.scope + "-" + unit.name, "limit": c.enough - 1, "spent": c.spent, "reserved": c.reserved, "wanted": c.wants,
				} {
					if err.Details[name] != want {
						t.Errorf("%s is %v, want %v", name, err.Details[name], want)
					}
				}
			})
		}
	}
	t.Run("none is without a limit", func(t *testing.T) {
		do(t, s, task.ReserveRuns{Intents: []task.Intent{costly("e", math.MaxInt64), costly("f", math.MaxInt64)}})
	})
	t.Run("the unit that is over says so in its own words", func(t *testing.T) {
		i := critic("e")
		i.Reserve = task.Amount{MicroDollars: 2_000_000, Tokens: 1}
		err := refuse(t, task.State{}, task.ReserveRuns{Intents: []task.Intent{i}, Limits: task.Limits{Task: task.Amount{MicroDollars: 1_250_001}}}, errs.BudgetExhausted)
		if want := "the task's budget of $1.250001 does not cover $2.00 more, with $0.00 spent and $0.00 reserved"; err.Message != want {
			t.Errorf("%q, want %q", err.Message, want)
		}
	})
	t.Run("what is limited is never free", func(t *testing.T) {
		i := costly("e", 1)
		i.Reserve.Tokens = 0
		for _, l := range []task.Limits{{Task: all(1000)}, {Round: all(1000)}, {Task: task.Amount{Tokens: 1000}}} {
			if e, err := task.Decide(s, task.ReserveRuns{Intents: []task.Intent{i}, Limits: l}); e != nil || err == nil || errs.CodeOf(err) != "" {
				t.Errorf("%+v: %v, %v", l, e, err)
			}
		}
		do(t, s, task.ReserveRuns{Intents: []task.Intent{i}, Limits: task.Limits{Task: task.Amount{Millis: 1000}}})
	})
	t.Run("a limit below zero is none", func(t *testing.T) {
		for _, l := range []task.Limits{{Rounds: -1}, {Task: task.Amount{Tokens: -1}}, {Round: task.Amount{Millis: -1}}} {
			if e, err := task.Decide(s, task.ReserveRuns{Intents: []task.Intent{costly("e", 1)}, Limits: l}); e != nil || err == nil || errs.CodeOf(err) != "" {
				t.Errorf("%+v: %v, %v", l, e, err)
			}
		}
	})
}

func TestABudgetOfRounds(t *testing.T) {
	in := func(rounds int) task.ReserveRuns {
		return task.ReserveRuns{Intents: []task.Intent{critic("z")}, Limits: task.Limits{Rounds: rounds}}
	}
	third := decide(t, inRound2(t), toExecutor)
	for name, c := range map[string]struct {
		s      task.State
		rounds int
	}{
		"new":         {task.State{}, 1},
		"third round": {third, 3},
		"more rounds": {do(t, third, task.StopTask{}, task.ResumeTask{Mode: task.MoreRounds, Rounds: 2}), 4},
		"manual":      {do(t, third, task.StopTask{}, task.ResumeTask{Mode: task.Manual, Fallback: 3}), 4},
		"replan":      {do(t, third, task.StopTask{}, task.ResumeTask{Mode: task.Replan, Fallback: 3}), 1},
		"reset":       {do(t, third, task.StopTask{}, task.ResumeTask{Mode: task.Reset, Fallback: 3}), 1},
		"begun anew":  {do(t, third, task.StopTask{}, begin), 1},
		"its second":  {decide(t, do(t, third, task.StopTask{}, begin), toExecutor), 2},
		"taken over":  {do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 4, MaxRounds: 6}}), 4},
		"kept in one": {decide(t, decide(t, third, toPlanChecker), toPlanChecker), 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.s.Rounds(); got != c.rounds {
				t.Errorf("%d rounds, want %d", got, c.rounds)
			}
			do(t, c.s, in(0))
			do(t, c.s, in(c.rounds))
			if c.rounds == 1 {
				return // A budget of 0 rounds means no limit.
			}
			err := refuse(t, c.s, in(c.rounds-1), errs.BudgetExhausted)
			limit := int64(c.rounds - 1)
			if d := err.Details; d["unit"] != "task-rounds" || d["limit"] != limit || d["spent"] != limit || d["reserved"] != int64(0) || d["wanted"] != int64(1) {
				t.Errorf("details %v", d)
			}
		})
	}
}

func TestSpentIsForgottenByNone(t *testing.T) {
	s := do(t, task.State{}, begin, spawning(costly("a", 10)), markUsed("a", 4), spawning(costly("b", 10)))
	stuck := do(t, s, task.StopTask{Reason: task.ReasonBudget, By: task.BySwitchyard})
	if *stuck.Stop != (task.Stop{Round: 1, Reason: "budget", By: "switchyard"}) {
		t.Errorf("%+v", stuck.Stop)
	}
	for name, next := range map[string]task.State{
		"next round":   decide(t, s, toExecutor),
		"red":          decide(t, s, onRed),
		"more rounds":  do(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: 5}),
		"manual":       do(t, stuck, task.ResumeTask{Mode: task.Manual, Fallback: 3}),
		"replan":       do(t, stuck, task.ResumeTask{Mode: task.Replan, Fallback: 3}),
		"reset":        do(t, stuck, task.ResumeTask{Mode: task.Reset, Fallback: 3}),
		"begun anew":   do(t, stuck, begin),
		"forced anew":  do(t, s, task.StartWork{Fallback: 3, Force: force}),
		"after commit": do(t, decide(t, s, final(toCommit)), begin),
	} {
		t.Run(name, func(t *testing.T) {
			if want := (task.Spending{Task: all(4), Runs: 1}); next.Spent != want || next.Round != 2 {
				t.Errorf("round %d has spent %+v, want %+v", next.Round, next.Spent, want)
			}
			if len(next.Runs) != 1 || next.Runs[0].Run != "b" || len(next.OpenRuns()) != 1 {
				t.Errorf("it has the runs %+v", next.Runs)
			}
			// The old round's run counts only for the task.
			next = do(t, next, markUsed("b", 3))
			if want := (task.Spending{Task: all(7), Runs: 2}); next.Spent != want || len(next.Runs) != 0 {
				t.Errorf("it has spent %+v, want %+v, and has the runs %+v", next.Spent, want, next.Runs)
			}
		})
	}
}

func TestWhatARunCosts(t *testing.T) {
	reserve := task.Amount{Millis: 100, Tokens: 200, MicroDollars: 300}
	less := task.Amount{Millis: 1, Tokens: 2, MicroDollars: 3}
	more := task.Amount{Millis: 101, Tokens: 202, MicroDollars: 303}
	for name, c := range map[string]struct {
		receipt *task.Receipt
		want    task.Amount
	}{
		"open":                      {nil, reserve},
		"all is known":              {&task.Receipt{Outcome: "clean", Used: less}, less},
		"beyond the reserve":        {&task.Receipt{Outcome: "failed", Used: more}, more},
		"unknown tokens":            {&task.Receipt{Outcome: "clean", Used: less, Unknown: []string{"tokens"}}, task.Amount{Millis: 1, Tokens: 200, MicroDollars: 3}},
		"unknown money":             {&task.Receipt{Outcome: "clean", Used: less, Unknown: []string{"microdollars"}}, task.Amount{Millis: 1, Tokens: 2, MicroDollars: 300}},
		"unknown, and more already": {&task.Receipt{Outcome: "clean", Used: more, Unknown: []string{"microdollars", "tokens"}}, more},
		"lost":                      {&task.Receipt{Outcome: task.OutcomeLost}, reserve},
		"lost, and more already":    {&task.Receipt{Outcome: task.OutcomeLost, Used: task.Amount{Tokens: 201}}, task.Amount{Millis: 100, Tokens: 201, MicroDollars: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			i := critic("a")
			i.Reserve = reserve
			if got := (task.Run{Intent: i, Receipt: c.receipt}).Cost(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if c.receipt == nil {
				return
			}
			c.receipt.Run = "a"
			s := do(t, task.State{}, spawning(i), task.RecordReceipt{Receipt: *c.receipt})
			if want := (task.Spending{Task: c.want, Round: c.want, Runs: 1}); s.Spent != want {
				t.Errorf("spent %+v, want %+v", s.Spent, want)
			}
		})
	}
}

// TestBudgetsNeverOverflow checks budgets with huge numbers.
func TestBudgetsNeverOverflow(t *testing.T) {
	amount := func(t *rapid.T, label string) int64 {
		near := rapid.Int64Range(math.MaxInt64-3, math.MaxInt64)
		return rapid.OneOf(rapid.Int64Range(1, 9), near, rapid.Int64Range(1, math.MaxInt64)).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, sum := task.State{}, new(big.Int)
		add := func(n int64) { sum.Add(sum, big.NewInt(n)) }
		for i := range rapid.IntRange(0, 3).Draw(t, "ended") {
			id, n := fmt.Sprint("ended-", i), amount(t, "used")
			s = do(t, s, spawning(costly(id, 1)), markUsed(id, n))
			add(n)
		}
		spent := new(big.Int).Set(sum)
		for i := range rapid.IntRange(0, 2).Draw(t, "open") {
			n := amount(t, "reserved")
			s = do(t, s, spawning(costly(fmt.Sprint("open-", i), n)))
			add(n)
		}
		c := task.ReserveRuns{}
		for i := range rapid.IntRange(1, 2).Draw(t, "wanted") {
			n := amount(t, "reserve")
			c.Intents = append(c.Intents, costly(fmt.Sprint("wanted-", i), n))
			add(n)
		}
		limit := min(amount(t, "limit"), math.MaxInt64-1) // The largest number is an unknown amount.
		if c.Limits.Task = all(limit); rapid.Bool().Draw(t, "of the round") {
			c.Limits = task.Limits{Round: all(limit)}
		}
		e, err := task.Decide(s, c)
		// Once the limit is spent, further amounts do not matter.
		within := sum.Cmp(big.NewInt(limit)) <= 0
		if within != (err == nil) || within != (e != nil) || !within && errs.CodeOf(err) != errs.BudgetExhausted {
			t.Fatalf("%v of %d: %v, %v", sum, limit, e, err)
		}
		want := big.NewInt(math.MaxInt64)
		if spent.Cmp(want) < 0 {
			want = spent
		}
		if s.Spent.Task != all(want.Int64()) {
			t.Fatalf("%v is spent, and kept as %+v", spent, s.Spent.Task)
		}
		if strings.Contains(fmt.Sprint(err), "-") {
			t.Fatalf("a number wraps around: %v", err)
		}
	})
}
