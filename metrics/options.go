package metrics

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Options configure a Collector.
type Options struct {
	// Labels are constant labels of every series.
	Labels map[string]string
	Seed   Seed
	Build  Build
}

// Seed has label values of series that are exported as 0 before their first event: a rate
// over a series that begins with its first event misses that event. Values beyond the
// ledger's cap for a label are dropped.
type Seed struct {
	// Actions are the destinations of the policy. PolicyVersions are the versions that can
	// make the next decision. Versions of past decisions need not be listed.
	Actions        []string
	PolicyVersions []string
	// Routes maps every category of findings to its destination.
	Routes map[string]string
	Agents []SeedAgent
	// Plugins are the plugins for the project's reports.
	Plugins []string
}

// SeedAgent is an agent that rounds or run start.
type SeedAgent struct {
	Name string
	// Reviews is true for a critic, which must write a report. Edits is true for an agent
	// that edits the working tree.
	Reviews, Edits bool
	// Adapters are the adapters that the agent may run with.
	Adapters []string
}

// outcomes returns the possible outcomes of a run of the agent.
func (a SeedAgent) outcomes() []string {
	switch {
	case a.Reviews:
		return []string{"clean", "critic-error", "findings", "lost"}
	case a.Edits:
		return []string{"edited", "failed", "lost", "no-change"}
	default:
		return []string{"failed", "lost", "ok"}
	}
}

// Build describes the program that exports the metrics.
type Build struct{ Version, Go string }

// withinCaps drops values beyond the ledger's caps: policies and configurations may list any
// number.
func (k Seed) withinCaps() Seed {
	rounds, findings, spawns := counters.Rounds().Labels, counters.Findings().Labels, counters.Spawns().Labels
	k.Actions = firstWords(k.Actions, rounds[0].Cap)
	k.PolicyVersions = firstWords(k.PolicyVersions, rounds[1].Cap)
	routes := make(map[string]string)
	for _, category := range firstWords(slices.Collect(maps.Keys(k.Routes)), findings[0].Cap) {
		routes[category] = k.Routes[category]
	}
	k.Routes = routes
	k.Agents = slices.Clone(k.Agents[:min(len(k.Agents), spawns[0].Cap)])
	for i, a := range k.Agents {
		k.Agents[i].Adapters = firstWords(a.Adapters, spawns[1].Cap)
	}
	k.Plugins = firstWords(k.Plugins, counters.PluginRuns().Labels[0].Cap)
	return k
}

// firstWords returns the first n words in order, without duplicates and without words that the
// ledger would count as "other".
func firstWords(words []string, n int) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return len(w) > counters.MaxValue || !utf8.ValidString(w)
	})
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), n)]
}
