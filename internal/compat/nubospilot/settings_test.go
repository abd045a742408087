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
	others := "config.json: agents.economy, agents.plan_checker, agents.research, auto_log_learning, compression, loops, model_profile, spawn, " +
		"swarm.critic, swarm.knowledge_adapter, swarm.research.minOccurrence, swarm.research.threshold, telemetry"
	if len(left) != 2 || !says(left, "loop.verify_runs", "verify.command") || !says(left, others, "no counterpart") {
		t.Errorf("left are %v", left)
	}
}

// TestSettingsOutOfRange checks that a value that is not valid leaves the default, and is
// listed.
func TestSettingsOutOfRange(t *testing.T) {
	for text, c := range map[string]struct {
		want nubospilot.Settings
		why  string
	}{
		`{"loop": {"maxRounds": 999}}`:        {why: "its value 999 is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": 0}}`:          {why: "is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": -7}}`:         {why: "is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": 1e999}}`:      {why: "is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": "7"}}`:        {why: "is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": null}}`:       {why: "is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": 2.5}}`:        {why: "its value 2.5 is not a whole number from 1 to 100"},
		`{"loop": {"maxRounds": 25}}`:         {want: nubospilot.Settings{MaxRounds: 25}},
		`{"loop": {"verify_runs": 1}}`:        {want: nubospilot.Settings{VerifyRuns: 1}},
		`{"loop": {"verify_runs": 50}}`:       {why: "its value 50 is not a whole number from 1 to 10"},
		`{"swarm": {"research": {"k": 9}}}`:   {why: "from 1 to 5"},
		`{"swarm": {"research": {"k": 0.4}}}`: {why: "from 1 to 5"},
		`{"swarm": {"research": 3}}`:          {why: "not an object"},
		`{"loop": []}`:                        {why: "not an object"},
		`{"agents": {"architect": "no"}}`:     {why: `its value "no" is not true or false`},
		`{"agents": {"test_writer": null}}`:   {why: "its value null is not true or false"},
		`[]`:                                  {why: "damaged"},
		`{"loop": {}, "loop": {}}`:            {why: "damaged"},
		`{"loop": `:                           {why: "damaged"},
		strings.Repeat(" ", 1<<20) + "{}":     {why: "larger than"},
	} {
		got, left := settings(t, text)
		if !reflect.DeepEqual(got, c.want) || (c.why == "") != (len(left) == 0) || c.why != "" && !says(left, "", c.why) {
			t.Errorf("%.60s: got %+v, left %v", text, got, left)
		}
	}
}
