package nubospilot_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
)

func settings(t *testing.T, text string) (nubospilot.Settings, []nubospilot.Left) {
	t.Helper()
	got := imported(t, map[string]string{"config.json": text})
	return got.Settings, got.Left
}

func TestSettings(t *testing.T) {
	yes, no := true, false
	got, left := settings(t, `{
		"loop": {"maxRounds": 5, "verify_runs": 3},
		"swarm": {"research": {"k": 2, "threshold": 0.2, "minOccurrence": 1}, "critic": {"style_tier": "haiku"}, "knowledge_adapter": "local"},
		"auto_log_learning": true,
		"spawn": {"headless": {"enabled": true, "agents": ["np-critic", "np-researcher"], "timeout_ms": 90000, "fallback_on_error": false}},
		"agents": {"architect": false, "test_writer": true, "economy": "ultra", "research": true, "plan_checker": true},
		"telemetry": {"otlp": {"enabled": false}}, "compression": {"enabled": true}, "model_profile": "frontier", "loops": {"maxRounds": 9}
	}`)
	want := nubospilot.Settings{MaxRounds: 5, VerifyRuns: 3, Researchers: 2, Architect: &no, TestWriter: &yes}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for what, why := range map[string]string{
		"loop.verify_runs": "verify.command", "swarm.research.threshold": "knowledge", "swarm.research.minOccurrence": "knowledge",
		"swarm.critic": "model", "swarm.knowledge_adapter": "knowledge", "auto_log_learning": "learnings", "spawn.headless": "no key",
		"agents.economy": "policy", "agents.research": "plan", "agents.plan_checker": "plan", "telemetry": "Prometheus", "compression": "excerpt",
		"config.json: loops, model_profile": "these keys are unknown",
	} {
		if !says(left, what, why) {
			t.Errorf("%s is not among what is left: %v", what, left)
		}
	}
	if len(left) != 13 {
		t.Errorf("%d are left: %v", len(left), left)
	}
}

// TestSettingsOutOfRange checks that a value out of range is clamped as in nubos-pilot,
// and listed.
func TestSettingsOutOfRange(t *testing.T) {
	rounds := func(n int) nubospilot.Settings { return nubospilot.Settings{MaxRounds: n} }
	for text, c := range map[string]struct {
		want nubospilot.Settings
		why  string
	}{
		`{"loop": {"maxRounds": 999}}`:        {rounds(100), "it is 999, which is taken as 100"},
		`{"loop": {"maxRounds": 0}}`:          {rounds(1), "taken as 1"},
		`{"loop": {"maxRounds": -7}}`:         {rounds(1), "taken as 1"},
		`{"loop": {"maxRounds": 1e999}}`:      {rounds(3), "taken as 3"},
		`{"loop": {"maxRounds": "7"}}`:        {rounds(3), "taken as 3"},
		`{"loop": {"maxRounds": null}}`:       {rounds(3), "taken as 3"},
		`{"loop": {"maxRounds": 2.5}}`:        {rounds(3), "it is 2.5, which is taken as 3"},
		`{"loop": {"maxRounds": 25}}`:         {rounds(25), ""},
		`{"loop": {"maxRounds": 1e2}}`:        {rounds(100), ""},
		`{"loop": {"verify_runs": 1}}`:        {nubospilot.Settings{VerifyRuns: 1}, ""},
		`{"loop": {"verify_runs": 50}}`:       {nubospilot.Settings{VerifyRuns: 10}, "taken as 10"},
		`{"swarm": {"research": {"k": 9}}}`:   {nubospilot.Settings{Researchers: 5}, "taken as 5"},
		`{"swarm": {"research": {"k": 0.4}}}`: {nubospilot.Settings{Researchers: 1}, "taken as 1"},
		`{"swarm": {"research": 3}}`:          {nubospilot.Settings{}, "no object"},
		`{"loop": []}`:                        {nubospilot.Settings{}, "no object"},
		`{"agents": {"architect": "no"}}`:     {nubospilot.Settings{}, "neither true nor false"},
		`[]`:                                  {nubospilot.Settings{}, "not a JSON object"},
		`{"loop": {}, "loop": {}}`:            {nubospilot.Settings{}, "damaged"},
		`{"loop": `:                           {nubospilot.Settings{}, "damaged"},
		strings.Repeat(" ", 1<<20) + "{}":     {nubospilot.Settings{}, "larger than"},
	} {
		got, left := settings(t, text)
		if !reflect.DeepEqual(got, c.want) || (c.why == "") != (len(left) == 0) || c.why != "" && !says(left, "", c.why) {
			t.Errorf("%.60s: got %+v, left %v", text, got, left)
		}
	}
}
