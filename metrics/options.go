package metrics

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Options are what a Collector needs to know besides the sums.
type Options struct {
	// Labels are constant labels that every series gets. See checkLabels.
	Labels map[string]string
	Seed   Seed
	Build  Build
}

// Seed has label values whose series are exported as 0 before anything is counted under
// them: a rate over a series that begins with its first event misses that event. Values
// beyond the ledger's cap for a label are dropped.
type Seed struct {
	// Actions are the destinations of the policy, and PolicyVersions the versions
	// that can decide next. A version that did decide is known without that.
	Actions        []string
	PolicyVersions []string
	// Routes has the destination of every category of findings.
	Routes map[string]string
	Agents []SeedAgent
	// Plugins are those that the project's reports are read by.
	Plugins []string
}

// SeedAgent is an agent that rounds run.
type SeedAgent struct {
	Name string
	// Reviews says that it owes a report: it is a critic.
	Reviews bool
	// Adapters are those that it may be run with.
	Adapters []string
}

// outcomes are what a run of the agent can come to.
func (a SeedAgent) outcomes() []string {
	if a.Reviews {
		return []string{"clean", "critic-error", "findings", "lost"}
	}
	return []string{"failed", "lost", "ok"}
}

// Build is the program that shows the metrics.
type Build struct{ Version, Go string }

// bounded cuts off what is beyond the caps of the ledger: policies and configurations
// list what they like.
func (k Seed) bounded() Seed {
	rounds, findings, spawns := counters.Rounds().Labels, counters.Findings().Labels, counters.Spawns().Labels
	k.Actions = first(k.Actions, rounds[0].Cap)
	k.PolicyVersions = first(k.PolicyVersions, rounds[1].Cap)
	routes := make(map[string]string)
	for _, category := range first(slices.Collect(maps.Keys(k.Routes)), findings[0].Cap) {
		routes[category] = k.Routes[category]
	}
	k.Routes = routes
	k.Agents = slices.Clone(k.Agents[:min(len(k.Agents), spawns[0].Cap)])
	for i, a := range k.Agents {
		k.Agents[i].Adapters = first(a.Adapters, spawns[1].Cap)
	}
	k.Plugins = first(k.Plugins, counters.PluginRuns().Labels[0].Cap)
	return k
}

// first returns at most n words in order, each once, and none that the ledger would
// not tell apart either.
func first(words []string, n int) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return len(w) > counters.MaxValue || !utf8.ValidString(w)
	})
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), n)]
}
