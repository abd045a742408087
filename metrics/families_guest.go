package metrics

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func guestFamilies() []Family {
	plugin := open("plugin")
	runs := seconds("plugin_duration_seconds", "Time that plugins took to normalise a report.",
		counters.PluginRuns(), powers(exponents(-10, 5, 1)...), plugin)
	runs.seeds = func(k Seed, _ [][]string) [][]string { return combined(k.Plugins) }
	failures := counter("plugin_failures_total", "Rounds that came to no decision because a plugin broke, by how.",
		counters.PluginFailures(), plugin, Label{Name: "type", trim: "plugin-"})
	var types []string
	for _, code := range errs.PluginFailures() {
		types = append(types, strings.TrimPrefix(string(code), "plugin-"))
	}
	failures.seeds = func(k Seed, _ [][]string) [][]string {
		return combined(k.Plugins, types)
	}
	return []Family{runs, failures}
}
