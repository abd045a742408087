package monitoring

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// scenarios returns the agent's scenarios: the first adapter cannot log in, the next
// one reports a finding, and the draft after that is clean.
func scenarios() []fakeagent.Scenario {
	return []fakeagent.Scenario{{Play: "auth"}, {Play: "findings"}, {Play: "clean"}}
}

// reports returns the critics' reports of the workload, by their names.
func reports() map[string]string {
	return map[string]string{
		"clean.json": `{"critic": "critic", "findings": []}`,
		"style.json": `{"critic": "critic", "findings": [
			{"category": "style", "file": "app.go", "line": 1, "remediation": "Name it"},
			{"category": "todo-marker", "severity": "risk", "file": "app.go", "line": 2, "remediation": "Do it"}]}`,
		"vibes.json": `{"critic": "critic", "findings": [{"category": "vibes", "remediation": "Feel better"}]}`,
		"port.json": `{"critic": "critic", "findings": [{"category": "question-to-user", "file": "api.go", "line": 3,
			"remediation": "Decide", "question_to_user": {"question": "Which port?", "choices": ["80", "443"]}}]}`,
	}
}

// work runs the workload that the tables below count.
func (p *project) work(t *testing.T) {
	t.Helper()
	for _, step := range []string{
		"round A --report style.json --verify red",
		"round A --report clean.json --verify green", // committed after 2 rounds
		"round B --report clean.json",                // after 1
		"round F",                                    // claude fails, and codex finds something
		"round F",                                    // after 2
		"round Q --report port.json",
		"answer Q --choice 2",
		"round Q --report clean.json", // after 2
		"round W --report port.json",  // waits
		"round R --report vibes.json", // stuck
		"resume R --rounds +1",        // and open again
		"round S --report vibes.json", // stuck
	} {
		p.must(t, strings.Fields(step)...)
	}
	// A round without a decision: the configuration makes the plugin trap.
	if _, err := p.run(t.Context(), "round", "P", "--report", "puppet=clean.json"); err == nil || !strings.Contains(err.Error(), "plugin-trap") {
		t.Fatalf("a plugin that traps: %v", err)
	}
}

// expected returns the values of the workload, by expressions of PromQL in which WAY
// stands for the selector of one exporter.
func expected() map[string]float64 {
	return map[string]float64{
		`sum(switchyard_rounds_total{WAY})`:                                                          10,
		`sum(switchyard_rounds_total{next_action="executor",WAY})`:                                   2,
		`sum(switchyard_rounds_total{next_action="commit",WAY})`:                                     4,
		`sum(switchyard_rounds_total{next_action="askuser",WAY})`:                                    2,
		`sum(switchyard_rounds_total{next_action="stuck",WAY})`:                                      2,
		`sum(switchyard_rounds_total{next_action="researcher",WAY})`:                                 0,
		`switchyard_round_verifications_total{verify="red",WAY}`:                                     1,
		`switchyard_round_verifications_total{verify="green",WAY}`:                                   1,
		`switchyard_round_verifications_total{verify="absent",WAY}`:                                  8,
		`switchyard_findings_total{category="style",severity="fail",route="executor",WAY}`:           1,
		`switchyard_findings_total{category="todo-marker",severity="risk",route="executor",WAY}`:     1,
		`switchyard_findings_total{category="missing-test",severity="fail",route="executor",WAY}`:    1,
		`switchyard_findings_total{category="question-to-user",severity="fail",route="askuser",WAY}`: 2,
		`switchyard_findings_total{category="vibes",severity="fail",route="stuck",WAY}`:              2,
		`sum(switchyard_findings_total{WAY})`:                                                        7,
		`sum(switchyard_round_failures_total{WAY})`:                                                  1,
		`switchyard_round_failures_total{code="plugin-trap",WAY}`:                                    1,
		`switchyard_plugin_failures_total{plugin="puppet",type="trap",WAY}`:                          1,
		`switchyard_stuck_total{reason="stuck-finding",WAY}`:                                         2,
		`sum(switchyard_stuck_total{WAY})`:                                                           2,
		`switchyard_resumes_total{mode="rounds",WAY}`:                                                1,
		`switchyard_questions_total{WAY}`:                                                            2,
		`switchyard_spawns_total{agent="critic",adapter="claude",outcome="critic-error",WAY}`:        1,
		`switchyard_spawns_total{agent="critic",adapter="codex",outcome="findings",WAY}`:             1,
		`switchyard_spawns_total{agent="critic",adapter="claude",outcome="clean",WAY}`:               1,
		`sum(switchyard_spawns_total{WAY})`:                                                          3,
		`switchyard_spawn_fallbacks_total{agent="critic",reason="auth",WAY}`:                         1,
		`sum(switchyard_spawn_fallbacks_total{WAY})`:                                                 1,
		`switchyard_tasks{status="committed",WAY}`:                                                   4,
		`switchyard_tasks{status="open",WAY}`:                                                        1,
		`switchyard_tasks{status="stuck",WAY}`:                                                       1,
		`switchyard_tasks{status="waiting",WAY}`:                                                     1,
		`switchyard_policy_info{version="1.3.0",adr="ADR-0024",WAY}`:                                 1,
		`count(switchyard_policy_info{WAY})`:                                                         1,
		`sum(switchyard_policy_adoptions_total{WAY})`:                                                1,
		`sum(switchyard_label_overflow_total{WAY})`:                                                  0,
		`sum(switchyard_forced_gates_total{WAY})`:                                                    0,
	}
}

// expectedCounts returns the counts of the histograms, and the sum if it is known.
func expectedCounts() series {
	return series{
		"switchyard_task_rounds_count{}":               4, // A, B, F and Q
		"switchyard_task_rounds_sum{}":                 7,
		`switchyard_task_rounds_bucket{le="1"}`:        1,
		`switchyard_task_rounds_bucket{le="2"}`:        4,
		"switchyard_question_wait_seconds_count{}":     1,
		"switchyard_spawn_duration_seconds_count{}":    3,
		"switchyard_policy_evaluation_seconds_count{}": 10,
	}
}
