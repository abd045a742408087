package host

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/project"
)

// configuredCategories are the categories that the project gives linters' findings,
// each with the plugins that it does so for. What is no such configuration is for the
// plugin to refuse.
func configuredCategories(config project.Config) map[string][]string {
	given := make(map[string][]string)
	for _, plugin := range slices.Sorted(maps.Keys(config.Plugins)) {
		var c struct {
			Categories struct {
				Rules      map[string]string `json:"rules"`
				Tags       map[string]string `json:"tags"`
				Severities map[string]string `json:"severities"`
				Default    string            `json:"default"`
			} `json:"categories"`
		}
		if err := json.Unmarshal(config.Plugins[plugin].Settings, &c); err != nil {
			continue
		}
		all := []string{c.Categories.Default}
		for _, by := range []map[string]string{c.Categories.Rules, c.Categories.Tags, c.Categories.Severities} {
			all = slices.AppendSeq(all, maps.Values(by))
		}
		slices.Sort(all)
		for _, category := range slices.Compact(all) {
			if category != "" {
				given[category] = append(given[category], plugin)
			}
		}
	}
	return given
}
