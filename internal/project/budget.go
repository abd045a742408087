package project

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Budget is what agents may use up.
type Budget struct {
	// Task is for a task from its first round on, and Round for one round of it.
	Task, Round Allowance
	// Spawn is what one spawn may cost at most, and what is reserved for it. It
	// has tokens wherever Task or Round has, and dollars likewise.
	Spawn Allowance
}

// Allowance is an amount of each unit. 0 is no limit.
type Allowance struct {
	// Rounds is a task's alone.
	Rounds int
	// Time is what spawns take together, also those that run at once. One spawn
	// has its timeout instead.
	Time   time.Duration
	Tokens int64
	// MicroDollars is money, in millionths of a dollar.
	MicroDollars int64
}

// The most that a project can allow, so that sums of it never overflow.
const (
	maxBudgetRounds = 1000
	maxBudgetTime   = 1000 * time.Hour
	maxTokens       = 1_000_000_000
	maxDollars      = 1_000_000

	microsOfDollar = 1_000_000
)

// read reads the budget, and holds its parts against each other.
func (b *Budget) read(r *reader, v value) {
	part := func(into *Allowance, units ...string) func(value) {
		return func(v value) { into.read(r, v, units) }
	}
	before := r.problemCount()
	r.mapping(v, fields{
		"task":  part(&b.Task, "rounds", "time", "tokens", "dollars"),
		"round": part(&b.Round, "time", "tokens", "dollars"),
		"spawn": part(&b.Spawn, "tokens", "dollars"),
	})
	if r.problemCount() > before {
		return // What is wrong with a part would be wrong with the whole once more.
	}
	for _, unit := range []struct {
		name               string
		spawn, round, task int64
	}{
		{"tokens", b.Spawn.Tokens, b.Round.Tokens, b.Task.Tokens},
		{"dollars", b.Spawn.MicroDollars, b.Round.MicroDollars, b.Task.MicroDollars},
	} {
		for _, whole := range []struct {
			name   string
			amount int64
		}{{"task", unit.task}, {"round", unit.round}} {
			switch {
			case whole.amount == 0:
			case unit.spawn == 0:
				// Without it nobody could say before a spawn whether it still fits.
				r.addProblem(v.line, "%s.spawn.%s is missing, which %[1]s.%[3]s.%[2]s needs", v.path, unit.name, whole.name)
			case unit.spawn > whole.amount:
				r.addProblem(v.line, "%s.spawn.%s is more than %[1]s.%[3]s.%[2]s, so that no spawn could begin", v.path, unit.name, whole.name)
			}
		}
	}
}

// read reads the allowance in the units that it may have.
func (a *Allowance) read(r *reader, v value, units []string) {
	all := fields{
		"rounds":  func(v value) { a.Rounds = r.integer(v, 0, maxBudgetRounds) },
		"time":    func(v value) { a.Time = r.allowedTime(v) },
		"tokens":  func(v value) { a.Tokens = int64(r.integer(v, 0, maxTokens)) },
		"dollars": func(v value) { a.MicroDollars = r.dollars(v) },
	}
	known := make(fields, len(units))
	for _, name := range units {
		known[name] = all[name]
	}
	r.mapping(v, known)
}

// allowedTime reads a time, or 0 for no limit.
func (r *reader) allowedTime(v value) time.Duration {
	if v.node.Kind == yaml.ScalarNode && v.node.Value == "0" {
		return 0
	}
	return r.duration(v, time.Second, maxBudgetTime, "0, or from 1s to 1000h, such as 2h")
}

// dollars reads an amount of dollars, and returns it in micro-dollars. The digits
// are taken as they stand: a binary fraction is another amount than the one that
// the user wrote.
func (r *reader) dollars(v value) int64 {
	number := regexp.MustCompile(`^(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?$`)
	digits := number.FindStringSubmatch(v.node.Value)
	if tag := v.node.ShortTag(); v.node.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float") && digits != nil {
		fraction := digits[2] + strings.Repeat("0", 6-len(digits[2]))
		micros, err := strconv.ParseInt(digits[1]+fraction, 10, 64)
		if err == nil && micros <= maxDollars*microsOfDollar {
			return micros
		}
	}
	r.expected(v, "an amount of dollars from 0 to %d with at most 6 decimals, such as 2.50", maxDollars)
	return 0
}
