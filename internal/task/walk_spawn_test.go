package task_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// reserve announces up to three runs.
func (w *walk) reserve() {
	c := task.ReserveRuns{
		Round:  rapid.SampledFrom([]int{0, 0, 0, 0, w.model.round(), w.model.round() + 1}).Draw(w.T, "for"),
		Limits: task.Limits{Task: w.limits("task", 90), Round: w.limits("round", 30), Rounds: rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(w.T, "rounds")},
	}
	if w.model.status() == task.NoTask && w.oneIn(2, "by hand") {
		c.Intents = []task.Intent{byHand(fmt.Sprint("run-", len(w.model)))}
	} else {
		edits := func(run string, i int) task.Intent {
			return agent(run, rapid.SampledFrom([]task.Role{"executor", "build-fixer", "security"}).Draw(w.T, "editor"), i == 0)
		}
		role := rapid.SampledFrom([]func(string, int) task.Intent{
			func(run string, _ int) task.Intent { return critic(run) },
			researcher,
			func(run string, _ int) task.Intent { return byHand(run) },
			func(run string, _ int) task.Intent { return agent(run, "plan-checker", false) },
			edits, edits,
		}).Draw(w.T, "role")
		if w.state.Phase == task.Review {
			role, c.Limits = edits, task.Limits{}
		}
		for i := range w.number("runs", 1, 3) {
			c.Intents = append(c.Intents, role(fmt.Sprintf("run-%d-%d", len(w.model), i), i))
		}
	}
	for i := range c.Intents {
		c.Intents[i].Reserve = task.Amount{Millis: w.cost("ms", 1), Tokens: w.cost("tokens", 1), MicroDollars: w.cost("money", 1)}
	}
	reviewed := w.state.Phase == task.Review
	if !w.expect(c, c, w.model.reserve(c)) {
		return
	}
	if reviewed && w.state.Phase != task.Review {
		w.seen["a draft ends a review"]++
	}
	if w.state.Status == task.NoTask {
		w.seen["spawned outside any task"]++
	}
}

// receive ends a run, usually an open one.
func (w *walk) receive() {
	c := task.RecordReceipt{Receipt: task.Receipt{
		Run: "nobody", Outcome: outcome.Outcome(w.pick("outcome", "clean", "edited", "edited", "critic-error", string(task.OutcomeLost))), Path: w.pick("path", "", "", "a.json", "b.json"),
		Used:    task.Amount{Millis: w.cost("ms", 0), Tokens: w.cost("tokens", 0), MicroDollars: w.cost("money", 0)},
		Unknown: rapid.SampledFrom([][]string{nil, nil, {"tokens"}, {"microdollars"}, {"tokens", "microdollars"}}).Draw(w.T, "unknown"),
	}}
	known := w.model.open()
	if w.oneIn(6, "any") {
		known = w.model.spawns()
	}
	late := false
	if len(known) > 0 {
		r := known[w.number("which", 0, len(known)-1)]
		c.Run, late = r.Run, r.round != w.model.round()
	}
	if w.expect(c, c, w.model.receive(c)) && late {
		w.seen["a receipt of an earlier round"]++
	}
}

func (w *walk) cost(label string, least int) int64 { return int64(w.number(label, least, 9)) }

// limits returns a budget, usually without limits.
func (w *walk) limits(label string, most int) task.Amount {
	limit := func(unit string) int64 {
		if !w.oneIn(4, label+" "+unit) {
			return 0
		}
		return int64(w.number("limit", 1, most))
	}
	return task.Amount{Millis: limit("ms"), Tokens: limit("tokens"), MicroDollars: limit("money")}
}

// compareRuns checks the state's runs against the model's.
func (w *walk) compareRuns(wrong func(what string, got, want any)) {
	s, m := w.state, w.model
	type seen struct {
		Run          string
		Round        int
		Stale, Ended bool
	}
	var got, want []seen
	for _, r := range s.Runs {
		got = append(got, seen{r.Run, r.Round, r.Stale, r.Receipt != nil})
	}
	for _, r := range m.listed() {
		want = append(want, seen{r.Run, r.round, r.stale, r.receipt != nil})
		if r.stale && r.receipt != nil {
			w.seen["an ended run is stale"]++
		}
	}
	wrong("runs", got, want)
	wrong("open runs", len(s.OpenRuns()), len(m.open()))
	for n, what := range []string{"time", "tokens", "money"} {
		wrong(what+" of the task", part(s.Spent.Task, n), m.spent(n, false))
		wrong(what+" of the round", part(s.Spent.Round, n), m.spent(n, true))
	}
	wrong("rounds", s.Rounds(), m.round()-m.fresh()+1)
	for index := range 2 {
		newest, attempts := "", 0
		for _, r := range m.listed() {
			if r.Role != "researcher" || r.Index != index || r.round != m.round() || r.stale {
				continue
			}
			if attempts++; r.receipt != nil {
				newest = r.Run
			}
		}
		finished := ""
		if r := s.LatestRun(task.RoleResearcher, index); r != nil {
			finished = r.Run
		}
		wrong("the researcher's newest run", finished, newest)
		wrong("the researcher's attempts", s.Attempts(task.RoleResearcher, index), attempts)
	}
}

// withoutSpawns removes the spawns from the history: they decide nothing, so the rest
// folds to the same task. The begin of a draft stays, which ends evidence, and so does the
// spawn that creates the task.
func (w *walk) withoutSpawns() {
	var without task.State
	others := 0
	for i, e := range w.events {
		if begun, ok := e.(task.SpawnBegun); ok && without.Status != task.NoTask && !slices.ContainsFunc(begun.Intents, func(i task.Intent) bool { return i.Edits }) || e.Kind() == task.KindSpawnEnded {
			continue
		}
		others++
		var err error
		if without, err = task.Apply(without, e); err != nil {
			w.Fatalf("event %d, without the spawns: %v", i, err)
		}
	}
	with := w.state
	with.Runs, with.Spent, with.Plan = nil, task.Spending{}, nil
	without.Runs = nil
	if others > 0 && asJSON(w, with) != asJSON(w, without) {
		w.Fatalf("the task is %s, and without its spawns %s", asJSON(w, with), asJSON(w, without))
	}
}
