package project

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
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

// read reads the budget and checks its parts against each other.
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
		return // A wrong part would be reported again with the whole.
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
				// Without it the rest of a budget cannot be checked before a spawn.
				r.addProblem(v.line, "%s.spawn.%s is missing, which %[1]s.%[3]s.%[2]s needs", v.path, unit.name, whole.name)
			case unit.spawn > whole.amount:
				r.addProblem(v.line, "%s.spawn.%s is more than %[1]s.%[3]s.%[2]s, so that no spawn could begin", v.path, unit.name, whole.name)
			}
		}
	}
}

// read reads the allowance in the permitted units.
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

// allowedTime reads a duration, or 0 for no limit.
func (r *reader) allowedTime(v value) time.Duration {
	if v.node.Kind == yaml.ScalarNode && v.node.Value == "0" {
		return 0
	}
	return r.duration(v, time.Second, maxBudgetTime, "0, or from 1s to 1000h, such as 2h")
}

// dollars reads an amount of dollars and returns it in micro-dollars. It parses the
// digits, because a binary fraction would be a different amount.
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
