package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// guestFamilies are those of plugins.
func guestFamilies() []Family {
	plugin := open("plugin")
	runs := seconds("plugin_duration_seconds", "Time that plugins took to normalise a report.",
		counters.PluginRuns(), powers(exponents(-10, 5, 1)...), plugin)
	runs.known = func(k Seed, _ [][]string) [][]string { return combined(k.Plugins) }
	failures := counter("plugin_failures_total", "Rounds that came to no decision because a plugin broke, by how.",
		counters.PluginFailures(), plugin, Label{Name: "type", Trim: "plugin-"})
	failures.known = func(k Seed, _ [][]string) [][]string {
		return combined(k.Plugins, []string{
			"abi", "conservation-violated", "invalid-output", "memory", "output-too-large", "timeout", "trap",
		})
	}
	return []Family{runs, failures}
}
