package round

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// said is why an attempt came to nothing, in its own words and ours; nothing for one
// that went well.
func explainAttempt(r spawner.Record) []string {
	words := []string{}
	if (outcome.Verdict{Outcome: r.Outcome}).Good() {
		return words
	}
	for _, tool := range r.Denials {
		words = append(words, "denied tool: "+tool)
	}
	words = append(words, r.Notes...)
	return words[max(len(words)-maxSaid, 0):] // Its own words come last.
}

// maxSaid is how many of an attempt's words are shown; the trail has all.
const maxSaid = 5

func summarizeSpawn(r spawner.Record) api.SpawnSummary {
	s := api.SpawnSummary{
		Run: r.RunID, Agent: r.Agent, Adapter: r.Adapter, Attempt: r.Attempt, Why: r.Why, Outcome: r.Outcome, Reason: r.Reason, Class: r.Class,
		DurationMS: r.DurationMS, TokensIn: r.TokensIn, TokensOut: r.TokensOut, CostMicroDollars: r.CostMicroDollars,
		Changed: r.Changed, Stderr: r.StderrExcerpt,
	}
	if words := explainAttempt(r); len(words) > 0 {
		s.Said = words
	}
	return s
}

// earlier is a run of a command that was killed.
func earlierSpawn(run task.Run) api.SpawnSummary {
	s := api.SpawnSummary{
		Run: run.Intent.Run, Agent: run.Agent, Adapter: run.Adapter, Attempt: run.Attempt, Why: run.Why, Resumed: true,
		Outcome: run.Receipt.Outcome, Reason: run.Receipt.Reason, Class: run.Receipt.Class, DurationMS: run.Receipt.Used.Millis,
	}
	if !slices.Contains(run.Receipt.Unknown, task.UnknownMoney) {
		s.CostMicroDollars = &run.Receipt.Used.MicroDollars
	}
	return s
}

// note remembers what was spawned, for the decision.
func (rr *roundRunner) addSpawns(o spawner.Outcome) {
	rr.recorder.mu.Lock()
	defer rr.recorder.mu.Unlock()
	for _, res := range o.Results {
		rr.recorder.spawns = append(rr.recorder.spawns, summarizeSpawn(res.Record))
	}
}
