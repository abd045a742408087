package nubospilot

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// The limits and defaults of nubos-pilot's settings; those of verify_runs are
// Switchyard's.
const (
	minRounds, maxRounds, defaultRounds                = 1, 100, 3
	minRuns, maxRuns, defaultRuns                      = 1, 10, 1
	minResearchers, maxResearchers, defaultResearchers = 1, 5, 3
)

// settings reads config.json.
func (r *reader) settings() {
	data, err := r.file(configFile)
	if err != nil {
		r.leave(configFile, "%s", safefile.Reason(err))
		return
	}
	config, ok := objectOf(data)
	if !ok {
		r.leave(configFile, "it is not a JSON object, or it is damaged")
		return
	}
	if unknown := r.take(config, ""); len(unknown) > 0 {
		r.leave(configFile+": "+some(unknown), "these keys are unknown")
	}
}

// take reads the settings of an object at a path, and returns the unknown paths.
func (r *reader) take(o object, prefix string) (unknown []string) {
	taken, reasons, groups := r.taken(), leftSettings(), settingGroups()
	for _, name := range slices.Sorted(maps.Keys(o)) {
		path, value := prefix+name, o[name]
		if read, ok := taken[path]; ok {
			read(path, value)
			continue
		}
		if why, ok := reasons[path]; ok {
			r.leave(path, "%s", why)
			continue
		}
		if !slices.Contains(groups, path) {
			unknown = append(unknown, path)
			continue
		}
		if inner, ok := objectOf(value); ok {
			unknown = append(unknown, r.take(inner, path+".")...)
		} else {
			r.leave(path, "it is no object")
		}
	}
	return unknown
}

// settingGroups are the objects that contain settings.
func settingGroups() []string {
	return []string{"loop", "swarm", "swarm.research", "spawn", "agents"}
}

// taken returns the reader of each setting with a counterpart.
func (r *reader) taken() map[string]func(path string, value jsontext.Value) {
	s := &r.result.Settings
	number := func(into *int, least, most, fallback int) func(string, jsontext.Value) {
		return func(path string, value jsontext.Value) {
			n, changed := numberOf(value, least, most, fallback)
			if changed {
				r.leave(path, "it is %s, which is taken as %d", clip(string(value)), n)
			}
			*into = n
		}
	}
	toggle := func(into **bool) func(string, jsontext.Value) {
		return func(path string, value jsontext.Value) {
			is, ok := boolOf(value)
			if !ok {
				r.leave(path, "it is neither true nor false")
				return
			}
			*into = &is
		}
	}
	return map[string]func(string, jsontext.Value){
		"loop.maxRounds": number(&s.MaxRounds, minRounds, maxRounds, defaultRounds),
		"loop.verify_runs": func(path string, value jsontext.Value) {
			number(&s.VerifyRuns, minRuns, maxRuns, defaultRuns)(path, value)
			if s.VerifyRuns > defaultRuns {
				r.leave(path, "verify.runs stands beside verify.command, which is yours to add to switchyard.yaml")
			}
		},
		"swarm.research.k":   number(&s.Researchers, minResearchers, maxResearchers, defaultResearchers),
		"agents.architect":   toggle(&s.Architect),
		"agents.test_writer": toggle(&s.TestWriter),
	}
}

// leftSettings maps each setting without a counterpart to the reason.
func leftSettings() map[string]string {
	const (
		knowledge = "Switchyard has no store of knowledge or learnings"
		models    = "which model an agent uses is for the command that starts it"
		planning  = "Switchyard does not plan the work, and so starts no such agent"
	)
	return map[string]string{
		"swarm.research.threshold":       knowledge,
		"swarm.research.minOccurrence":   knowledge,
		"swarm.research.minConfidence":   knowledge,
		"swarm.research.bypassThreshold": knowledge,
		"swarm.knowledge_adapter":        knowledge,
		"knowledge_adapter":              knowledge,
		"auto_log_learning":              knowledge,
		"swarm.critic":                   models,
		"spawn.headless":                 "switchyard.yaml has no key for it yet",
		"agents.parallelization":         planning,
		"agents.research":                planning,
		"agents.plan_checker":            planning,
		"agents.verifier":                planning,
		"agents.economy":                 "what the economy categories lead to is the policy's to say",
		"compression":                    "the excerpt of a verification has a fixed size",
		"telemetry":                      "Switchyard's metrics are for Prometheus; it sends no OTLP",
	}
}
