package metrics

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// spawnFamilies describes the agents that Switchyard ran.
func spawnFamilies() []Family {
	agent, direction := open("agent"), of("direction", "cached", "in", "out")
	spawns := counter("spawns_total", "Runs of agents that have ended, by what they came to.",
		counters.Spawns(), agent, open("adapter"), of("outcome", "clean", "critic-error", "failed", "findings", "lost", "ok"))
	spawns.seeds = func(k Seed, _ [][]string) [][]string {
		var all [][]string
		for _, a := range k.Agents {
			all = append(all, combined([]string{a.Name}, a.Adapters, a.outcomes())...)
		}
		return all
	}
	fallbacks := counter("spawn_fallbacks_total", "Runs after whose failure another adapter or the caller took over, by the kind of the failure.",
		counters.Fallbacks(), agent, of("reason", classes()...))
	fallbacks.seeds = byAgent(classes())
	retries := counter("spawn_retries_total", "Runs that were tried again with the same adapter, by the kind of their failure.",
		counters.Retries(), agent, of("reason", classes()...))
	retries.seeds = byAgent(classes())
	tokens := counter("spawn_tokens_total", "Tokens that agents used, as their command-line tools told it.",
		counters.Tokens(), agent, direction)
	tokens.seeds = byAgent(direction.Values)
	cost := counter("spawn_cost_dollars_total", "What agents cost, as their command-line tools told it.",
		counters.MicroDollars(), agent)
	cost.Unit, cost.per, cost.seeds = "dollars", 1_000_000, byAgent()
	return []Family{
		spawns, fallbacks, retries,
		seconds("spawn_duration_seconds", "Time that runs of agents took.", counters.SpawnRuns(), powers(exponents(0, 12, 1)...)),
		tokens, cost,
	}
}

// byAgent lists the known agents with all combinations of values.
func byAgent(values ...[]string) func(Seed, [][]string) [][]string {
	return func(k Seed, _ [][]string) [][]string {
		var names []string
		for _, a := range k.Agents {
			names = append(names, a.Name)
		}
		return combined(slices.Insert(slices.Clone(values), 0, names)...)
	}
}

// classes are the failure classes of a spawn, in order: those of internal/agent/outcome,
// and "none".
func classes() []string {
	return []string{
		"auth", "config", "crashed", "input", "limit", "lost", "malformed", "none", "not-found",
		"overloaded", "quota", "rate-limit", "refused", "timeout",
	}
}
