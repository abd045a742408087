package task_test

import (
	"math/big"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// spawned is a run in the model.
type spawned struct {
	task.Intent
	// round is the round of its start.
	round int
	// receipt is nil while it is open; own is set if the task existed, in the run's
	// round, when the receipt came.
	receipt *task.Receipt
	own     bool
	stale   bool
}

// spawns returns all runs that ever began.
func (m model) spawns() []spawned {
	var runs []spawned
	for i, h := range m {
		_, decided := h.what.(decision)
		for n := range runs {
			runs[n].stale = runs[n].stale || decided && !h.grew || h.redrafts() && runs[n].Role == "critic"
		}
		switch w := h.what.(type) {
		case task.ReserveRuns:
			for _, intent := range w.Intents {
				runs = append(runs, spawned{Intent: intent, round: h.round})
			}
		case task.ParkTask:
			for n := range runs {
				runs[n].stale = runs[n].stale || runs[n].Run == w.Run
			}
		case task.RecordReceipt:
			for n := range runs {
				if runs[n].Run == w.Run {
					runs[n].receipt = &w.Receipt
					runs[n].own = m[:i].status() != task.NoTask && h.round == runs[n].round
				}
			}
		}
	}
	return runs
}

// listed returns the runs that a reader of the task still sees.
func (m model) listed() []spawned {
	return slices.DeleteFunc(m.spawns(), func(r spawned) bool {
		return r.receipt != nil && !(r.own && r.round == m.round())
	})
}

func (m model) open() []spawned {
	return slices.DeleteFunc(m.spawns(), func(r spawned) bool { return r.receipt != nil })
}

// part returns the time, the tokens or the money of an amount.
func part(a task.Amount, n int) int64 { return []int64{a.Millis, a.Tokens, a.MicroDollars}[n] }

// costs returns one part of the cost of an ended run.
func (r spawned) costs(n int) int64 {
	unknown := []string{"time", "tokens", "microdollars"}[n]
	used, reserved := part(r.receipt.Used, n), part(r.Reserve, n)
	if r.receipt.Outcome == "lost" || slices.Contains(r.receipt.Unknown, unknown) {
		return max(used, reserved)
	}
	return used
}

// spent returns one part of the cost of all ended runs.
func (m model) spent(n int, ofRound bool) int64 {
	sum := int64(0)
	for _, r := range m.spawns() {
		if r.receipt != nil && (!ofRound || r.own && r.round == m.round()) {
			sum += r.costs(n)
		}
	}
	return sum
}

func (m model) reserve(c task.ReserveRuns) verdict {
	if code := m.mayDecide(); code != "" {
		return refused(code)
	}
	if c.Round != 0 && c.Round != m.round() {
		return refused(errs.RoundShifted)
	}
	most := 16
	if m.status() == task.NoTask && !(seen{what: c}).makes() {
		most = 256
	}
	if len(m.open())+len(c.Intents) > most || len(m.listed())+len(c.Intents) > 256 {
		return refused(errs.StampsTooMany)
	}
	if c.Limits.Rounds != 0 && m.round()-m.fresh()+1 > c.Limits.Rounds+int(m.raised(3)) {
		return refused(errs.BudgetExhausted)
	}
	for n := range 3 {
		if m.beyondBudget(part(c.Limits.Task, n), n, false, c.Intents) || m.beyondBudget(part(c.Limits.Round, n), n, true, c.Intents) {
			return refused(errs.BudgetExhausted)
		}
	}
	return verdict{}
}

// beyondBudget reports whether the limit on one part is insufficient for a task or its
// round.
func (m model) beyondBudget(limit int64, n int, ofRound bool, wanted []task.Intent) bool {
	sum := big.NewInt(m.spent(n, ofRound))
	for _, r := range m.open() {
		if !ofRound || r.round == m.round() {
			sum.Add(sum, big.NewInt(part(r.Reserve, n)))
		}
	}
	for _, i := range wanted {
		sum.Add(sum, big.NewInt(part(i.Reserve, n)))
	}
	return limit != 0 && sum.Cmp(big.NewInt(limit+m.raised(n))) > 0
}

func (m model) receive(c task.RecordReceipt) verdict {
	if !slices.ContainsFunc(m.open(), func(r spawned) bool { return r.Run == c.Run }) {
		return refused(errs.SpawnRunUnknown)
	}
	return verdict{}
}
