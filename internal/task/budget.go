package task

import (
	"fmt"
	"math"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The reason of a stop because of an exhausted budget, and the author of Switchyard's own
// stops.
const (
	ReasonBudget = "budget"
	BySwitchyard = "switchyard"
)

// Limits are the budgets of a task. 0 means no limit.
type Limits struct {
	// Task limits all runs of the task, and Round the runs of one round.
	Task  Amount `json:"task,omitzero"`
	Round Amount `json:"round,omitzero"`
	// Rounds limits the rounds since the last start.
	Rounds int `json:"rounds,omitzero"`
}

// BudgetUse is the used part of a budget.
type BudgetUse struct {
	// Budget is the unit: see budget-exhausted.
	Budget       string
	Spent, Limit int64
}

// Usage lists the use of each of the task's budgets that has a limit.
func (l Limits) Usage(s State) []BudgetUse {
	l = l.raiseBy(s.Raised)
	var uses []BudgetUse
	for _, u := range units() {
		if limit := u.of(l.Task); limit > 0 {
			uses = append(uses, BudgetUse{Budget: "task-" + u.name, Spent: u.of(s.Spent.Task), Limit: limit})
		}
	}
	if l.Rounds > 0 {
		uses = append(uses, BudgetUse{Budget: "task-rounds", Spent: int64(s.Rounds()), Limit: int64(l.Rounds)})
	}
	return uses
}

type unit struct {
	name string
	of   func(Amount) int64
	text func(int64) string
}

// The names of the units.
const (
	unitTime    = "time"
	unitTokens  = "tokens"
	unitDollars = "dollars"
	unitRounds  = "rounds"
)

func units() []unit {
	return []unit{
		{unitTime, func(a Amount) int64 { return a.Millis }, func(n int64) string { return fmt.Sprintf("%d ms", n) }},
		{unitTokens, func(a Amount) int64 { return a.Tokens }, func(n int64) string { return fmt.Sprintf("%d tokens", n) }},
		{unitDollars, func(a Amount) int64 { return a.MicroDollars }, dollars},
	}
}

// dollars formats millionths of a dollar exactly.
func dollars(n int64) string {
	fraction := fmt.Sprintf("%06d", n%1_000_000)
	return fmt.Sprintf("$%d.%s%s", n/1_000_000, fraction[:2], strings.TrimRight(fraction[2:], "0"))
}

// checkBudget rejects runs that exceed a budget, together with the spending so far and
// the reserves of open runs. An open run of an earlier round counts only towards the task,
// as its receipt will.
func (l Limits) checkBudget(s State, wanted []Intent) error {
	if err := l.check(wanted); err != nil {
		return err
	}
	l = l.raiseBy(s.Raised)
	if begun := int64(s.Rounds()); l.Rounds > 0 && begun > int64(l.Rounds) {
		byRound := unit{name: unitRounds, text: func(n int64) string { return textutil.Count(n, "round") }}
		return byRound.exhausted("task", int64(l.Rounds), begun-1, 0, 1)
	}
	var open, current, more Amount
	for _, r := range s.OpenRuns() {
		open = open.Add(r.Reserve)
		if r.Round == max(s.Round, 1) {
			current = current.Add(r.Reserve)
		}
	}
	for _, i := range wanted {
		more = more.Add(i.Reserve)
	}
	for _, scope := range []struct {
		name                   string
		limit, spent, reserved Amount
	}{
		{"task", l.Task, s.Spent.Task, open},
		{"round", l.Round, s.Spent.Round, current},
	} {
		for _, u := range units() {
			limit, spent, reserved, wanted := u.of(scope.limit), u.of(scope.spent), u.of(scope.reserved), u.of(more)
			// A sum could overflow, and a saturated one is unknown.
			if limit > 0 && (wanted == math.MaxInt64 || spent > limit || reserved > limit-spent || wanted > limit-spent-reserved) {
				return u.exhausted(scope.name, limit, spent, reserved, wanted)
			}
		}
	}
	return nil
}

// check rejects negative limits, and runs without a reserve of a limited unit, which would
// be free.
func (l Limits) check(wanted []Intent) error {
	if l.Rounds < 0 {
		return fmt.Errorf("a budget of %d rounds", l.Rounds)
	}
	for _, limit := range []Amount{l.Task, l.Round} {
		if err := limit.check(); err != nil {
			return err
		}
		for _, u := range units() {
			for _, i := range wanted {
				if u.of(limit) > 0 && u.of(i.Reserve) == 0 {
					return fmt.Errorf("run %q reserves no %s, which has a limit", i.Run, u.name)
				}
			}
		}
	}
	return nil
}

func (u unit) exhausted(scope string, limit, spent, reserved, wanted int64) error {
	return errs.New(errs.BudgetExhausted, "the %s's budget of %s does not cover %s more, with %s spent and %s reserved",
		scope, u.text(limit), u.text(wanted), u.text(spent), u.text(reserved)).
		With("unit", scope+"-"+u.name).With("limit", limit).With("spent", spent).With("reserved", reserved).With("wanted", wanted)
}

// Amount is a consumption or a limit of spawns. Its parts are never negative.
type Amount struct {
	// Millis is wall-clock time, in milliseconds.
	Millis int64 `json:"ms,omitzero"`
	// Tokens counts the input and output tokens of a model.
	Tokens int64 `json:"tokens,omitzero"`
	// MicroDollars is in millionths of a dollar, rounded up.
	MicroDollars int64 `json:"microdollars,omitzero"`
}

// Add returns the sum of two amounts. Each part saturates at the largest int64, so that no
// sum of costs wraps around.
func (a Amount) Add(b Amount) Amount {
	return Amount{
		Millis:       addSaturating(a.Millis, b.Millis),
		Tokens:       addSaturating(a.Tokens, b.Tokens),
		MicroDollars: addSaturating(a.MicroDollars, b.MicroDollars),
	}
}

// addSaturating adds two non-negative numbers.
func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// check rejects a negative amount, which would pay for others.
func (a Amount) check() error {
	if a.Millis < 0 || a.Tokens < 0 || a.MicroDollars < 0 {
		return fmt.Errorf("an amount below zero: %+v", a)
	}
	return nil
}
