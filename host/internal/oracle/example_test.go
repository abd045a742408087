package oracle

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// example returns a history with everything that is counted.
func example() *history {
	h := newHistory()
	s := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	const policy = `"policy": {"name": "routing", "version": "1.0.0", "digest": "d1", "adr": "ADR-1"}`
	h.add(0, "_policies", "policy-kept", `{"by": "ann", `+policy+`, "sources": []}`)
	h.add(0, "_policies", "policy-adopted", `{"by": "ann", `+policy+`}`)

	// A asks, is answered twice, fails its verification and is committed in round 2.
	h.add(s(10), "A", "work-begun", `{"event": {"round": 1, "max_rounds": 3}}`)
	h.add(s(11), "A", "spawn-begun", `{"event": {"intents": [
		{"run": "r1", "role": "critic", "agent": "critic", "adapter": "claude", "reserve": {"ms": 60000, "tokens": 300, "microdollars": 9000}},
		{"run": "r2", "role": "researcher", "agent": "web", "adapter": "codex", "reserve": {"ms": 5000, "tokens": 200}}
	]}, "limits": {"task": {"ms": 20000, "tokens": 1000, "microdollars": 30000}, "rounds": 4}}`)
	h.add(s(15), "A", "spawn-ended", `{"event": {"receipt": {"run": "r1", "outcome": "critic-error", "class": "timeout", "next": "fallback",
		"used": {"ms": 4000, "tokens": 50}, "unknown": ["microdollars"], "spawn": {"pid": 1}, "confinement": "files+network"}},
		"spawn": {"tokens_in": 30, "tokens_out": 20, "tokens_cached": null, "cost_microdollars": null}}`)
	h.add(s(16), "A", "spawn-ended", `{"event": {"receipt": {"run": "r2", "outcome": "lost", "next": "retry"}}}`)
	h.add(s(20), "A", "round-decided", `{"event": {"round": 1, "next_round": 1, "next_action": "askuser", "kind": "human", "reason": "question",
		"reviewed": true, "verify": "green", "questions": [{"fingerprint": "f"}, {"fingerprint": "g"}]},
		"decision": {"next_action": "askuser", "no_progress": false, `+policy+`, "findings": [
			{"category": "style", "severity": "risk", "route": "executor"},
			{"category": "question-to-user", "severity": "nit", "route": "askuser"},
			{"category": "style", "severity": "risk", "route": "executor"}
		], "induced_count": 3, "deferred": [{"severity": "nit"}, {"severity": "risk"}, {"severity": "nit"}],
		"input": {"new_count": 2, "repeat_count": 1, "reopened_count": 0, "resolved_count": 3}},
		"timing": {"policy_us": 15, "plugins": [{"plugin": "critic", "us": 977}, {"plugin": "critic", "us": 976}]}}`)
	h.add(s(21.0005), "A", "answer-given", `{"event": {"round": 1, "answers": [{"fingerprint": "g", "text": "x", "by": "ann"}]}}`)
	h.add(s(36.001), "A", "answer-given", `{"event": {"round": 1, "answers": [{"fingerprint": "f", "text": "x", "by": "ann"}]}}`)
	// Without a report, its progress does not count.
	h.add(s(40), "A", "round-decided", `{"event": {"round": 1, "next_round": 2, "next_action": "executor", "kind": "agent", "reason": "red",
		"reviewed": false, "verify": "red", "force": {"reason": "x", "by": "ann"}},
		"decision": {"next_action": "executor", "no_progress": true, `+policy+`, "findings": [], "input": {"new_count": 5}}}`)
	h.add(s(50), "A", "round-decided", `{"event": {"round": 2, "next_round": 2, "next_action": "commit", "kind": "terminal", "reason": "clean",
		"reviewed": true, "verify": "green", "final": true, "bar": "risk", "force": {"reason": "x", "by": "ann"}},
		"decision": {"next_action": "commit", "no_progress": true, `+policy+`, "findings": [], "input": {}}}`)

	h.add(s(51), "_failures", "round-failed", `{"by": "ann", "task": "B", "code": "plugin-trap", "plugin": "lint", "message": "x"}`)
	h.add(s(52), "_failures", "round-failed", `{"by": "ann", "task": "B", "code": "verify-timeout", "message": "x"}`)

	// B is imported, restarted, and exceeds its budget.
	h.add(s(60), "B", "task-imported", `{"event": {"round": 3, "max_rounds": 5, "stop": {"round": 3, "reason": "x", "by": "y"}, "overrides": 2}}`)
	h.add(s(70), "B", "work-resumed", `{"event": {"round": 4, "max_rounds": 7, "mode": "reset", "by": "ann"}}`)
	h.add(s(80), "B", "spawn-begun", `{"event": {"intents": [{"run": "r3", "role": "critic", "agent": "critic", "adapter": "claude", "reserve": {"tokens": 1}}]},
		"limits": {"task": {"tokens": 3}, "rounds": 2}}`)
	h.add(s(90), "B", "spawn-ended", `{"event": {"receipt": {"run": "r3", "outcome": "findings", "used": {"tokens": 9000000, "microdollars": 2500001}, "spawn": {"pid": 3}, "confinement": "files"}},
		"spawn": {"tokens_in": 9000000, "tokens_out": 0, "tokens_cached": 5, "cost_microdollars": 2500001}}`)
	h.add(s(100), "B", "work-stopped", `{"event": {"stop": {"round": 4, "reason": "budget", "by": "switchyard"}}, "budget": "task-tokens"}`)
	h.add(s(110), "B", "work-stopped", `{"event": {"stop": {"round": 4, "reason": "tired", "by": "ann"}}}`)

	// C is stopped by hand, restarted and committed at once by force.
	h.add(s(120), "C", "agent-stamped", `{"event": {"stamp": {"agent": "executor", "round": 1}}}`)
	h.add(s(130), "C", "work-stopped", `{"event": {"stop": {"round": 1, "reason": "tired", "by": "ann"}}}`)
	h.add(s(140), "C", "work-begun", `{"event": {"round": 2, "max_rounds": 3}}`)
	h.add(s(150), "C", "phase-done", `{"event": {"round": 2, "phase": "tests", "force": {"reason": "x", "by": "ann"}}}`)
	h.add(s(160), "C", "work-committed", `{"event": {"round": 2, "force": {"reason": "x", "by": "ann"}}}`)

	// Runs outside any round make no task.
	h.add(s(170), "_spawns", "spawn-begun", `{"event": {"intents": [{"run": "r4", "role": "other", "agent": "helper", "adapter": "claude"}]}}`)
	h.add(s(171), "_spawns", "spawn-ended", `{"event": {"receipt": {"run": "r4", "outcome": "failed", "class": "auth", "next": "hand-back", "used": {"ms": 4096000}, "spawn": {"pid": 4}}},
		"spawn": {"tokens_in": null, "tokens_out": null, "tokens_cached": null, "cost_microdollars": null}}`)
	h.add(s(172), "D", "spawn-begun", `{"event": {"intents": [{"run": "r5", "role": "other", "agent": "helper", "adapter": "claude"}]}, "limits": {"rounds": 1}}`)
	return h
}

// exampleText lists the expected metrics of the example, computed by hand. It is not yet
// in the text format: a histogram's buckets are BORDER:COUNT on one line.
const exampleText = `
rounds_total{next_action="askuser",policy_version="1.0.0"} 1
rounds_total{next_action="executor",policy_version="1.0.0"} 1
rounds_total{next_action="commit",policy_version="1.0.0"} 1
round_verifications_total{verify="green"} 2
round_verifications_total{verify="red"} 1
findings_total{category="style",severity="risk",route="executor"} 2
findings_total{category="question-to-user",severity="nit",route="askuser"} 1
findings_deferred_total{severity="nit"} 2
findings_deferred_total{severity="risk"} 1
findings_induced_total 3
finding_progress_total{progress="new"} 2
finding_progress_total{progress="repeat"} 1
finding_progress_total{progress="resolved"} 3
rounds_without_progress_total 1
round_failures_total{code="plugin-trap"} 1
round_failures_total{code="verify-timeout"} 1
plugin_failures_total{plugin="lint",type="trap"} 1
stuck_total{reason="imported"} 1
stuck_total{reason="budget"} 1
stuck_total{reason="by-hand"} 1
budget_stops_total{budget="task-tokens"} 1
budget_used_ratio_max{budget="task-tokens"} 999.999
budget_used_ratio_max{budget="task-rounds"} 0.5
resumes_total{mode="reset"} 1
forced_gates_total{phase="draft"} 1
forced_gates_total{phase="review"} 1
forced_gates_total{phase="tests"} 1
forced_gates_total{phase="commit"} 1
questions_total 2
question_wait_seconds{} 1:1 4:1 16:1 64:2 256:2 1024:2 4096:2 16384:2 65536:2 262144:2 1.048576e+06:2 +Inf:2 17.001
spawns_total{agent="critic",adapter="claude",outcome="critic-error"} 1
spawns_total{agent="critic",adapter="claude",outcome="findings"} 1
spawns_total{agent="web",adapter="codex",outcome="lost"} 1
spawns_total{agent="helper",adapter="claude",outcome="failed"} 1
spawn_confinement{agent="critic",level="files"} 1
spawn_confinement{agent="helper",level="none"} 1
spawn_fallbacks_total{agent="critic",reason="timeout"} 1
spawn_fallbacks_total{agent="helper",reason="auth"} 1
spawn_retries_total{agent="web",reason="none"} 1
spawn_duration_seconds{} 1:1 2:1 4:2 8:2 16:2 32:2 64:2 128:2 256:2 512:2 1024:2 2048:2 4096:3 +Inf:3 4100
spawn_tokens_total{agent="critic",direction="in"} 9000030
spawn_tokens_total{agent="critic",direction="out"} 20
spawn_tokens_total{agent="critic",direction="cached"} 5
spawn_cost_dollars_total{agent="critic"} 2.500001
tasks{status="committed"} 2
tasks{status="stuck"} 1
tasks_oldest_timestamp_seconds{status="stuck"} 1767323145.678
commits_total{bar="risk"} 1
commits_total{bar="all"} 1
task_rounds{} 1:1 2:2 3:2 4:2 5:2 7:2 10:2 20:2 50:2 100:2 +Inf:2 3
plugin_duration_seconds{plugin="critic"} 0.0009765625:1 0.001953125:2 0.00390625:2 0.0078125:2 0.015625:2 0.03125:2 0.0625:2 0.125:2 0.25:2 0.5:2 1:2 2:2 4:2 8:2 16:2 32:2 +Inf:2 0.001953
policy_evaluation_seconds{} 1.52587890625e-05:1 6.103515625e-05:1 0.000244140625:1 0.0009765625:1 0.00390625:1 0.015625:1 0.0625:1 0.25:1 1:1 4:1 +Inf:1 0.000015
policy_info{version="1.0.0",digest="d1",adr="ADR-1"} 1
policy_adopted_timestamp_seconds{version="1.0.0",digest="d1"} 1767323045.678
policy_adoptions_total{version="1.0.0",digest="d1"} 1
ledger_events_total 27
ledger_last_event_timestamp_seconds 1767323217.678
`

// exposition formats the lines as text format, as Prometheus would scrape them.
func exposition(lines, given string) string {
	var b strings.Builder
	series := func(name, labels, value string) {
		labels = strings.Trim(strings.Join([]string{given, labels}, ","), ",")
		if labels != "" {
			labels = "{" + labels + "}"
		}
		b.WriteString("switchyard_" + name + labels + " " + value + "\n")
	}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, labels, _ := strings.Cut(strings.TrimSuffix(words[0], "}"), "{")
		last := words[len(words)-1]
		if len(words) == 2 {
			series(name, labels, last)
			continue
		}
		b.WriteString("# TYPE switchyard_" + name + " histogram\n")
		count := ""
		for _, bucket := range words[1 : len(words)-1] {
			border, n, _ := strings.Cut(bucket, ":")
			series(name+"_bucket", strings.Trim(labels+`,le="`+border+`"`, ","), n)
			count = n
		}
		series(name+"_sum", labels, last)
		series(name+"_count", labels, count)
	}
	return b.String()
}

// TestExample compares the recount with values computed by hand.
func TestExample(t *testing.T) {
	t.Parallel()
	report := example().recount(t).Compare(parse(t, exposition(exampleText, "")))
	if len(report.Differences) > 0 {
		t.Errorf("differences: %+v", report.Differences)
	}
	if report.Series != strings.Count(strings.TrimSpace(exampleText), "\n")+1 || report.Events != 27 {
		t.Errorf("%d series of %d events", report.Series, report.Events)
	}
}

// TestEveryNumberMatters changes each number and omits each series in turn; each must be
// reported.
func TestEveryNumberMatters(t *testing.T) {
	t.Parallel()
	h := example()
	lines := slices.Collect(strings.Lines(exposition(exampleText, "")))
	changed := 0
	for i, line := range lines {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if series == "#" || series == "switchyard_ledger_events_total" {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"",
			series + " " + strconv.FormatFloat(n+1, 'f', -1, 64) + "\n",
			series + " " + strconv.FormatFloat(n-0.001, 'f', -1, 64) + "\n", // A part of a count is cut off.
		} {
			if text == "" && strings.Contains(line, `le="+Inf"`) {
				continue // The count is the same.
			}
			changed++
			got := differences(t, h, strings.Join(slices.Replace(slices.Clone(lines), i, i+1, text), ""))
			if !slices.Contains(got, canonical(series)) {
				t.Errorf("%q for %q: %q differ", text, line, got)
			}
		}
	}
	if changed < 300 {
		t.Errorf("only %d numbers were changed", changed)
	}
}

// canonical sorts the labels of a series.
func canonical(series string) string {
	name, labels, ok := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	if !ok {
		return name
	}
	pairs := strings.Split(labels, ",")
	slices.Sort(pairs)
	return name + "{" + strings.Join(pairs, ",") + "}"
}
