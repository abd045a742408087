package record

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// taskSnapshot is the part of a task's state that counting needs, before or after an
// event.
type taskSnapshot struct {
	StoredStatus
	statusSince
	limits task.Limits
}

// statusSince records since when a task waits or is stuck, and why.
type statusSince struct {
	Since string `json:"since"`
	Why   string `json:"why"`
}

// countEvent returns the changes that a task's event makes to the ledger's counters.
func countEvent(before, after taskSnapshot, t event.Facts, e ledger.Event) []counters.Change {
	c := &counts{event: e, before: before, after: after}
	switch event := t.Event.(type) {
	case *task.RoundDecided:
		c.changes = make([]counters.Change, 0, 32)
		c.countDecision(*event, t)
	case *task.QuestionAsked:
		c.add(counters.Questions(), int64(len(event.Questions)))
	case *task.QuestionsAnswered:
		c.countAnswers(*event)
	case *task.WorkResumed:
		c.add(counters.Resumes(), 1, string(event.Mode))
	case *task.SpawnBegun:
		c.countFallbacks(*event)
	case *task.SpawnEnded:
		c.countRun(event.Receipt, t)
	}
	if after.Overrides > before.Overrides && after.Forced != nil {
		c.add(counters.Forced(), 1, string(after.Forced.Phase))
	}
	c.countStatus(t)
	c.replace(before.state(e.Task), after.state(e.Task))
	return c.changes
}

// counts collects an event's changes to the ledger's counters (ADR-0018).
type counts struct {
	event         ledger.Event
	before, after taskSnapshot
	changes       []counters.Change
}

// countDecision counts a decision, its findings and its timing.
func (c *counts) countDecision(d task.RoundDecided, t event.Facts) {
	decision := t.DecisionOrZero()
	policy := decision.Policy
	c.add(counters.Rounds(), 1, d.NextAction, policy.Version)
	c.add(counters.DailyRounds(), 1, dayOf(c.event.At), d.NextAction)
	c.add(counters.Policies(), 1, policy.Version, policy.Digest, policy.ADR)
	c.add(counters.Verifications(), 1, d.Verify)
	c.add(counters.Questions(), int64(len(d.Questions)))
	c.countFindings(counters.Findings(), decision.Findings, func(f event.Finding) [3]string { return [3]string{f.Category, f.Severity, f.Route} })
	c.countFindings(counters.Deferred(), decision.Deferred, func(f event.Finding) [3]string { return [3]string{f.Severity} })
	if n := decision.InducedCount; n != nil {
		c.add(counters.Induced(), int64(*n))
	}
	if d.Reviewed {
		c.add(counters.Progress(), int64(decision.NewCount), "new")
		c.add(counters.Progress(), int64(decision.RepeatCount), "repeat")
		c.add(counters.Progress(), int64(decision.ReopenedCount), "reopened")
		c.add(counters.Progress(), int64(decision.ResolvedCount), "resolved")
		if decision.NoProgress {
			c.add(counters.Stalled(), 1)
		}
	}
	if t.Timing == nil {
		return
	}
	sample := counters.Observation{Task: c.event.Task, Round: d.Round}
	for _, run := range t.Timing.Plugins {
		sample.Value = run.Micros
		c.observe(counters.PluginRuns(), sample, run.Plugin)
	}
	sample.Value = t.Timing.PolicyMicros
	c.observe(counters.Evaluations(), sample)
}

// countFindings counts findings by the labels of a measure, in the order in which these first
// appear.
func (c *counts) countFindings(m counters.Measure, findings []event.Finding, labels func(event.Finding) [3]string) {
	n := make(map[[3]string]int64)
	var kinds [][3]string
	for _, f := range findings {
		kind := labels(f)
		if n[kind]++; n[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		c.add(m, n[kind], kind[:len(m.Labels)]...)
	}
}

// countAnswers counts how long questions waited, and the budget that an answer did not raise.
func (c *counts) countAnswers(a task.QuestionsAnswered) {
	waited := c.event.Time().Sub(ledger.Event{At: c.before.Since}.Time())
	for range a.Answers {
		c.observe(counters.QuestionWaits(), counters.Observation{Value: waited.Milliseconds(), Task: c.event.Task, Round: a.Round})
	}
	if asked := c.before.Questions.Open[0]; c.after.Status == task.Stuck && asked.Budget != "" {
		c.add(counters.BudgetStops(), 1, asked.Budget)
	}
}

// countFallbacks counts the fallbacks from an adapter without a program: there was no run whose end
// would count them.
func (c *counts) countFallbacks(s task.SpawnBegun) {
	for _, run := range s.Intents {
		class, fell := strings.CutPrefix(run.Why, string(outcome.Fallback)+":")
		// An agent outside any round always begins with its first attempt.
		if fell && run.Attempt == 1 && run.Role != task.RoleOther {
			c.add(counters.Fallbacks(), 1, run.Agent, class)
			c.add(counters.Daily(), 1, dayOf(c.event.At), counters.DayFallbacks)
		}
	}
}

// countRun counts a run that has ended, with the labels of its intent.
func (c *counts) countRun(r task.Receipt, t event.Facts) {
	i := slices.IndexFunc(c.before.Runs, func(run task.Run) bool { return run.Run == r.Run })
	if i < 0 {
		return // Apply has rejected it.
	}
	run, day := c.before.Runs[i], dayOf(c.event.At)
	c.add(counters.Spawns(), 1, run.Agent, run.Adapter, string(r.Outcome))
	if r.Spawn != nil {
		c.add(counters.SpawnLevels(), 1, run.Agent, string(cmp.Or(r.Confinement, confinement.None)))
	}
	c.add(counters.Daily(), 1, day, counters.DaySpawns)
	class := cmp.Or(r.Class, "none")
	switch r.Next {
	case string(outcome.Fallback), NextManualFallback:
		c.add(counters.Fallbacks(), 1, run.Agent, string(class))
		c.add(counters.Daily(), 1, day, counters.DayFallbacks)
	case string(outcome.Retry):
		c.add(counters.Retries(), 1, run.Agent, string(class))
	}
	if r.Outcome != task.OutcomeLost {
		c.observe(counters.SpawnRuns(), counters.Observation{Value: r.Used.Millis, Task: c.event.Task, Round: run.Round})
	}
	var spawn outcome.Record
	if t.Spawn != nil {
		spawn = *t.Spawn
	}
	c.add(counters.Tokens(), positive(spawn.TokensIn), run.Agent, "in")
	c.add(counters.Tokens(), positive(spawn.TokensOut), run.Agent, "out")
	c.add(counters.Tokens(), positive(spawn.TokensCached), run.Agent, "cached")
	cost := positive(spawn.CostMicroDollars)
	c.add(counters.MicroDollars(), cost, run.Agent)
	c.add(counters.Daily(), cost, day, counters.DayMicroDollars)
}

// positive returns a number reported by an agent's CLI, or 0 if it is missing or negative.
func positive(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}

func (c *counts) countStatus(t event.Facts) {
	if c.after.Status == c.before.Status || isChain(c.event.Task) {
		return
	}
	day := dayOf(c.event.At)
	switch c.after.Status {
	case task.Stuck:
		c.add(counters.Stops(), 1, c.after.Why)
		c.add(counters.Daily(), 1, day, counters.DayStuck)
		if t.Budget != "" {
			c.add(counters.BudgetStops(), 1, t.Budget)
		}
	case task.Committed:
		if c.before.Status == task.Merging {
			return // It was counted when it was committed.
		}
		c.add(counters.Commits(), 1, cmp.Or(c.after.Bar, string(routing.BarAll)))
		n := int64(c.after.Rounds())
		c.observe(counters.TaskRounds(), counters.Observation{Value: n, Task: c.event.Task, Round: c.after.Round})
		c.add(counters.Daily(), 1, day, counters.DayCommitted)
	}
}

// state returns the counters that a task holds while its state does not change.
func (m taskSnapshot) state(id string) []counters.Change {
	if m.Status == task.NoTask || isChain(id) {
		return nil
	}
	c := &counts{}
	c.add(counters.Tasks(), 1, string(m.Status))
	if m.Status == task.Waiting || m.Status == task.Stuck {
		c.add(counters.BlockedTasks(), 1, string(m.Status), m.Since, id, m.Why)
	}
	if m.Status == task.Committed || m.Status == task.Merging {
		return c.changes
	}
	for _, use := range m.limits.Usage(m.State) {
		c.add(counters.BudgetUse(), 1, use.Budget, permille(use), id)
	}
	return c.changes
}

// permille returns the used part of a budget in thousandths, as six digits.
func permille(u task.BudgetUse) string {
	const most = 999_999
	part, limit := uint64(most), uint64(u.Limit)
	if high, low := bits.Mul64(uint64(u.Spent), 1000); high < limit {
		part, _ = bits.Div64(high, low, limit)
	}
	return fmt.Sprintf("%06d", min(part, most))
}

// reasonOf returns a short reason why a task is stuck or waits.
func reasonOf(s task.State, t event.Facts) string {
	switch event := t.Event.(type) {
	case *task.RoundDecided:
		if s.Status == task.Stuck {
			return event.Reason
		}
		return event.NextAction
	case *task.WorkStopped:
		if event.Stop.By == task.BySwitchyard {
			return event.Stop.Reason
		}
		return "by-hand"
	case *task.TaskImported:
		return "imported"
	case *task.QuestionAsked:
		if event.Questions[0].Budget != "" {
			return task.ReasonBudget
		}
		return string(task.RolePlanChecker)
	}
	if s.Status == task.Stuck {
		return s.Stop.Reason // An answer about a budget, or a merge.
	}
	return string(s.Status)
}

// withStatusSince sets the time and reason of the current status, which it copies from before
// if the event did not change the status.
func (m taskSnapshot) withStatusSince(before taskSnapshot, t event.Facts, at string) taskSnapshot {
	switch {
	case m.Status == before.Status:
		m.statusSince = before.statusSince
	case m.Status == task.Waiting || m.Status == task.Stuck:
		m.statusSince = statusSince{Since: at, Why: reasonOf(m.State, t)}
	}
	return m
}

func (c *counts) add(m counters.Measure, n int64, values ...string) {
	if n == 0 {
		return
	}
	c.changes = append(c.changes, counters.Change{Measure: m, Values: values, Add: n})
}

func (c *counts) observe(d counters.Distribution, s counters.Observation, values ...string) {
	c.changes = append(c.changes, d.Observe(s, values...)...)
}

// replace replaces the counters of one state by the counters of the next.
func (c *counts) replace(before, after []counters.Change) {
	has := func(list []counters.Change, x counters.Change) bool {
		return slices.ContainsFunc(list, func(y counters.Change) bool {
			return x.Measure.Name == y.Measure.Name && slices.Equal(x.Values, y.Values)
		})
	}
	for _, is := range after {
		if !has(before, is) {
			c.changes = append(c.changes, is)
		}
	}
	for _, was := range before {
		if !has(after, was) {
			c.add(was.Measure, -was.Add, was.Values...)
		}
	}
}

func dayOf(at string) string {
	day, _, _ := strings.Cut(at, "T")
	return day
}

// NextManualFallback is the next step in a receipt if the caller must run the agent.
const NextManualFallback = "hand-back"
