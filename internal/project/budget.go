package project

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Budget limits the consumption of agents.
type Budget struct {
	// Task limits a whole task, and Round one round of it.
	Task, Round Allowance
	// Spawn is the maximum cost of one spawn, which is reserved for it. It has tokens if
	// Task or Round has, and likewise dollars.
	Spawn Allowance
}

// Allowance is an amount of each unit. 0 means no limit.
type Allowance struct {
	// Rounds applies only to a task.
	Rounds int
	// Time is the total duration of spawns, including concurrent ones. A single spawn has
	// its timeout instead.
	Time   time.Duration
	Tokens int64
	// MicroDollars is in millionths of a dollar.
	MicroDollars int64
}

// The maximum allowances, small enough that their sums never overflow.
const (
	maxBudgetRounds = 1000
	maxBudgetTime   = 1000 * time.Hour
	maxTokens       = 1_000_000_000
	maxDollars      = 1_000_000

	microsOfDollar = 1_000_000
)

// read reads the budget and compares its parts with each other.
func (b *Budget) read(v value) {
	ok := v.mapping(fields{
		"task":  func(v value) { b.Task.read(v, "rounds", "time", "tokens", "dollars") },
		"round": func(v value) { b.Round.read(v, "time", "tokens", "dollars") },
		"spawn": func(v value) { b.Spawn.read(v, "tokens", "dollars") },
	})
	if !ok {
		return // The checks below would report an invalid part again.
	}
	check := func(unit, whole string, spawn, amount int64) {
		switch {
		case amount == 0:
		case spawn == 0:
			// Without it the budget cannot be checked before a spawn.
			v.fail(".spawn.%s is missing, which %s.%s.%[1]s needs", unit, v.path, whole)
		case spawn > amount:
			v.fail(".spawn.%s is more than %s.%s.%[1]s, so that no spawn could begin", unit, v.path, whole)
		}
	}
	check("tokens", "task", b.Spawn.Tokens, b.Task.Tokens)
	check("tokens", "round", b.Spawn.Tokens, b.Round.Tokens)
	check("dollars", "task", b.Spawn.MicroDollars, b.Task.MicroDollars)
	check("dollars", "round", b.Spawn.MicroDollars, b.Round.MicroDollars)
}

func (a *Allowance) read(v value, units ...string) {
	known := fields{
		"rounds": func(v value) { a.Rounds = v.integer(0, maxBudgetRounds) },
		"time": func(v value) {
			if v.node.Value != "0" {
				a.Time = v.duration(time.Second, maxBudgetTime, "0, or from 1s to 1000h, such as 2h")
			}
		},
		"tokens":  func(v value) { a.Tokens = int64(v.integer(0, maxTokens)) },
		"dollars": func(v value) { a.MicroDollars = readDollars(v) },
	}
	maps.DeleteFunc(known, func(unit string, _ func(value)) bool { return !slices.Contains(units, unit) })
	v.mapping(known)
}

// readDollars reads an amount of dollars and returns it in millionths. It parses the
// digits, because a binary fraction would be a different amount.
func readDollars(v value) int64 {
	digits := regexp.MustCompile(`^(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?$`).FindStringSubmatch(v.node.Value)
	if (v.isScalar("!!int") || v.isScalar("!!float")) && digits != nil {
		fraction := digits[2] + strings.Repeat("0", 6-len(digits[2]))
		micros, err := strconv.ParseInt(digits[1]+fraction, 10, 64)
		if err == nil && micros <= maxDollars*microsOfDollar {
			return micros
		}
	}
	v.expected("an amount of dollars from 0 to %d with at most 6 decimals, such as 2.50", maxDollars)
	return 0
}
