package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// sampleStart is the time of a sample's first event.
func sampleStart() time.Time { return time.Date(2026, 1, 12, 8, 30, 0, 0, time.UTC) }

// newSample returns the ledger of a project that worked on that many tasks for that many
// days: it began badly, amended its policy after a third of the time, had trouble with an
// agent for two weeks, and rests at weekends. It is deterministic.
func newSample(tasks, days int) *memLedger {
	s := &sample{random: rand.New(rand.NewPCG(7, 11)), days: days}
	amended := false
	for i := range tasks {
		s.now = s.moment(i, tasks)
		if version, digest, _ := s.policy(); version == "1.2.0" && !amended {
			amended = true
			s.record(one(counters.Adoptions(), version, digest))
		}
		s.work(i)
	}
	return &s.memLedger
}

type sample struct {
	memLedger
	random *rand.Rand
	days   int
	now    time.Time
}

// moment returns the start of a task: in order, in office hours.
func (s *sample) moment(task, tasks int) time.Time {
	day := task * s.days / max(tasks, 1)
	at := sampleStart().AddDate(0, 0, day)
	switch at.Weekday() {
	case time.Saturday:
		at = at.AddDate(0, 0, -1)
	case time.Sunday:
		at = at.AddDate(0, 0, 1)
	}
	return at.Add(time.Duration(s.random.IntN(8*60)) * time.Minute)
}

// part returns the elapsed part of the sample's time, in [0, 1].
func (s *sample) part() float64 {
	return s.now.Sub(sampleStart()).Hours() / 24 / float64(max(s.days, 1))
}

// policy returns the policy that decides at this time.
func (s *sample) policy() (version, digest, record string) {
	if s.part() > 0.33 {
		return "1.2.0", "sha256:a86e2f7710bd93", "ADR-0003"
	}
	return "1.1.0", "sha256:3f1c9a0be57d24", "ADR-0002"
}

func (s *sample) day() string { return s.now.Format(time.DateOnly) }

func (s *sample) chance(p float64) bool { return s.random.Float64() < p }

// record adds an event some minutes after the previous one.
func (s *sample) record(changes ...counters.Change) {
	s.Record(s.now, changes...)
	s.now = s.now.Add(time.Duration(1+s.random.IntN(20)) * time.Minute)
}

// work runs a task from its first round to its current state.
func (s *sample) work(number int) {
	id := fmt.Sprintf("M%03d-S%03d-T%04d", 1+number/60, 1+number/12%5, number+1)
	version, digest, record := s.policy()
	s.record(one(counters.Tasks(), "open"))
	for round := 1; ; round++ {
		s.spawn("critic", id, round)
		next := s.next(round)
		changes := []counters.Change{
			one(counters.Rounds(), next, version), one(counters.DailyRounds(), s.day(), next), one(counters.Policies(), version, digest, record),
		}
		if next != "commit" {
			changes = append(changes, s.findings(next)...)
		}
		changes = append(changes, s.moved(next, id, round)...)
		s.record(changes...)
		switch next {
		case "commit", "stuck":
			return
		case "researcher":
			s.spawn("researcher", id, round)
		case "askuser":
			if s.chance(0.5) && s.part() > 0.85 {
				return // The question is not answered yet.
			}
			s.answer(id, round)
		}
	}
}

// next draws the next action of a round: the later, the more likely is commit.
func (s *sample) next(round int) string {
	good := 0.16 + 0.24*s.part() + 0.07*float64(round)
	switch r := s.random.Float64(); {
	case r < good:
		return "commit"
	case round >= 7 || r > 0.985:
		return "stuck"
	case r < good+0.32:
		return "executor"
	case r < good+0.42:
		return "researcher"
	case r < good+0.50:
		return "askuser"
	default:
		return "plan-checker"
	}
}

func (s *sample) findings(route string) []counters.Change {
	categories := []string{
		"todo-marker", "missing-test", "style", "error-handling", "information-missing", "locked-decision-violation",
		"question-to-user", "dead-code", "naming", "race-condition", "input-validation", "infrastructure-mismatch",
	}
	severities := []string{"fail", "fail", "warn", "block", "info"}
	var changes []counters.Change
	for range 1 + s.random.IntN(4) {
		at := int(math.Abs(s.random.NormFloat64()) * 4)
		category := categories[min(at, len(categories)-1)]
		changes = append(changes, one(counters.Findings(), category, severities[s.random.IntN(len(severities))], route))
		progress := "new"
		if s.chance(0.3) {
			progress = "repeat"
		}
		changes = append(changes, one(counters.Progress(), progress))
	}
	if s.chance(0.12) {
		changes = append(changes, one(counters.Stalled()))
	}
	return append(changes, add(counters.Progress(), int64(s.random.IntN(3)), "resolved"), one(counters.Deferred(), "nit"), one(counters.Induced()))
}

// moved returns the changes of the task's status after a decision.
func (s *sample) moved(next, id string, round int) []counters.Change {
	since := s.now.Format(ledger.TimeFormat)
	gone := add(counters.Tasks(), -1, "open")
	switch next {
	case "commit":
		changes := counters.TaskRounds().Observe(counters.Observation{Value: int64(round), Task: id, Round: round})
		return append(changes, gone, one(counters.Tasks(), "committed"), one(counters.Daily(), s.day(), counters.DayCommitted))
	case "stuck":
		why := []string{"max-rounds", "stuck-finding", "budget", "no-progress"}[s.random.IntN(4)]
		changes := []counters.Change{gone, one(counters.Stops(), why), one(counters.Daily(), s.day(), counters.DayStuck)}
		if s.part() < 0.6 || s.chance(0.2) { // A person has fixed it since, and committed it by hand.
			changes = append(changes, one(counters.Tasks(), "committed"), one(counters.Daily(), s.day(), counters.DayCommitted))
			return append(changes, counters.TaskRounds().Observe(counters.Observation{Value: int64(round), Task: id, Round: round})...)
		}
		return append(changes, one(counters.Tasks(), "stuck"), one(counters.BlockedTasks(), "stuck", since, id, why))
	case "askuser":
		return []counters.Change{gone, one(counters.Tasks(), "waiting"), one(counters.Questions()), one(counters.BlockedTasks(), "waiting", since, id, "askuser")}
	default:
		return nil
	}
}

// answer ends the wait that the latest decision began.
func (s *sample) answer(id string, round int) {
	waits := s.sums[counters.BlockedTasks().Name]
	for key, row := range waits {
		if row.Values[2] == id {
			delete(waits, key)
		}
	}
	waited := time.Duration(math.Exp(s.random.NormFloat64()*1.6+8.2)) * time.Second
	s.now = s.now.Add(min(waited, 48*time.Hour))
	changes := counters.QuestionWaits().Observe(counters.Observation{Value: waited.Milliseconds(), Task: id, Round: round})
	s.record(append(changes, add(counters.Tasks(), -1, "waiting"), one(counters.Tasks(), "open"))...)
}

// spawn runs an agent, and another adapter if that fails.
func (s *sample) spawn(role, id string, round int) {
	agents := map[string][]string{"critic": {"np-critic", "np-critic-security"}, "researcher": {"np-researcher"}}[role]
	agent := agents[s.random.IntN(len(agents))]
	trouble := 0.04
	if p := s.part(); p > 0.55 && p < 0.67 {
		trouble = 0.3
	}
	for adapter := "claude"; ; adapter = "codex" {
		failed := adapter == "claude" && s.chance(trouble)
		outcome := "findings"
		if failed {
			outcome = "critic-error"
		}
		micro := int64(math.Exp(s.random.NormFloat64()*0.7) * 90_000)
		changes := []counters.Change{
			one(counters.Spawns(), agent, adapter, outcome), one(counters.Daily(), s.day(), counters.DaySpawns),
			add(counters.MicroDollars(), micro, agent), add(counters.Daily(), micro, s.day(), counters.DayMicroDollars),
			add(counters.Tokens(), micro/4, agent, "in"), add(counters.Tokens(), micro/40, agent, "out"), add(counters.Tokens(), micro/8, agent, "cached"),
		}
		ran := int64(math.Exp(s.random.NormFloat64()*0.6) * 75_000)
		changes = append(changes, counters.SpawnRuns().Observe(counters.Observation{Value: ran, Task: id, Round: round})...)
		if failed {
			changes = append(changes, one(counters.Fallbacks(), agent, "rate-limit"), one(counters.Daily(), s.day(), counters.DayFallbacks))
		}
		s.record(changes...)
		if !failed {
			return
		}
	}
}
