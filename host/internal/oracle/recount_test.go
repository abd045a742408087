package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEventsThatCannotBeCounted checks that events that cannot have been recorded are
// errors.
func TestEventsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*history){
		"no JSON":      func(h *history) { h.add(0, "A", "work-begun", `{`) },
		"another type": func(h *history) { h.add(0, "A", "work-begun", `{"event": {"round": "one"}}`) },
		"a key twice":  func(h *history) { h.add(0, "A", "work-begun", `{"event": {}, "event": {}}`) },
		"a run that never began": func(h *history) {
			h.add(0, "A", "spawn-ended", `{"event": {"receipt": {"run": "r", "outcome": "clean"}}}`)
		},
		"no time": func(h *history) {
			h.add(0, "A", "work-begun", `{}`)
			h.events[len(h.events)-1].At = "yesterday"
		},
		"a run that ended": func(h *history) {
			h.add(0, "A", "spawn-begun", `{"event": {"intents": [{"run": "r", "role": "critic"}]}}`)
			h.add(0, "A", "spawn-ended", `{"event": {"receipt": {"run": "r", "outcome": "clean"}}}`)
			h.add(0, "A", "spawn-ended", `{"event": {"receipt": {"run": "r", "outcome": "clean"}}}`)
		},
		"a stop without a reason": func(h *history) { h.add(0, "A", "work-stopped", `{"event": {}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory()
			h.add(0, "A", "work-begun", `{"event": {"round": 1}}`)
			spoil(h)
			if _, err := Of(h.each, 99); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("event %d of A", len(h.events))) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestOther checks that beyond a cap new values count as other and earlier ones keep their
// own.
func TestOther(t *testing.T) {
	t.Parallel()
	h := newHistory()
	begin := func(n int, agent string) {
		h.add(0, "_spawns", "spawn-begun", fmt.Sprintf(`{"event": {"intents": [{"run": "r%d", "role": "other", "agent": %q, "adapter": "x"}]}}`, n, agent))
		h.add(0, "_spawns", "spawn-ended", fmt.Sprintf(`{"event": {"receipt": {"run": "r%d", "outcome": "ok", "class": "c", "next": "retry"}}, "spawn": {"tokens_in": 2, "tokens_out": 3}}`, n))
	}
	for i := range 34 {
		begin(i, fmt.Sprint("agent-", i))
	}
	begin(34, "agent-0")
	begin(35, "agent-33")
	begin(36, strings.Repeat("x", 201))
	r := h.recount(t)
	text := "switchyard_ledger_events_total 74\n"
	for _, d := range r.Compare(parse(t, text)).Differences {
		if d.Shown != nil {
			t.Errorf("%s is not among what is shown", d)
		}
		want, ok := map[string]float64{
			`switchyard_spawns_total{adapter="x",agent="agent-0",outcome="ok"}`:  2,
			`switchyard_spawns_total{adapter="x",agent="agent-31",outcome="ok"}`: 1,
			`switchyard_spawns_total{adapter="x",agent="other",outcome="ok"}`:    4,
			`switchyard_spawns_total{adapter="x",agent="agent-32",outcome="ok"}`: -1,
			`switchyard_spawn_tokens_total{agent="other",direction="in"}`:        8,
			`switchyard_spawn_retries_total{agent="other",reason="c"}`:           4,
			// Once per event, however often it counts under the agent.
			`switchyard_label_overflow_total{label="agent"}`: 4,
		}[d.String()]
		if ok && *d.Recounted != want {
			t.Errorf("%s is %v, want %v", d, *d.Recounted, want)
		}
		if d.Metric == "switchyard_label_overflow_total" && !ok {
			t.Errorf("%s", d)
		}
	}
}

// TestClocksAreSetBack checks that no duration is negative.
func TestClocksAreSetBack(t *testing.T) {
	t.Parallel()
	h := newHistory()
	h.add(time.Hour, "A", "round-decided", `{"event": {"round": 1, "next_round": 1, "next_action": "askuser", "kind": "human", "verify": "absent", "questions": [{}]},
		"decision": {"next_action": "askuser"}}`)
	h.add(0, "A", "answer-given", `{"event": {"round": 1, "answers": [{}]}}`)
	got := differences(t, h, strings.Join([]string{
		`switchyard_ledger_events_total 2`, `switchyard_ledger_last_event_timestamp_seconds 1767323045.678`, `switchyard_tasks{status="open"} 1`,
		`switchyard_rounds_total{next_action="askuser",policy_version=""} 1`, `switchyard_round_verifications_total{verify="absent"} 1`,
		`switchyard_questions_total 1`, `switchyard_policy_info{version="",digest="",adr=""} 1`, `switchyard_question_wait_seconds_sum 0`,
		`switchyard_question_wait_seconds_count 1`, ``,
	}, "\n"))
	if len(got) != 12 || slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "switchyard_question_wait_seconds_bucket{") }) {
		t.Errorf("all buckets count it, and these differ: %q", got)
	}
}

// TestBarOfACommit follows the bar of a task: it falls with a resume and a new start, and
// rises with an answer.
func TestBarOfACommit(t *testing.T) {
	t.Parallel()
	h := newHistory()
	decided := func(id, bar, event string) {
		h.add(0, id, "round-decided", `{"event": {"round": 1, "next_round": 1, "verify": "absent", "bar": "`+bar+`", `+event+`}, "decision": {"next_action": "x"}}`)
	}
	const stuck, asks = `"next_action": "stuck", "kind": "terminal", "reason": "x"`, `"next_action": "askuser", "kind": "human", "questions": [{"fingerprint": "c", "churn": true}]`
	commit := func(id string) { h.add(0, id, "work-committed", `{"event": {"round": 1}}`) }
	for _, answer := range []string{"x", "Land with the residual risk "} {
		decided(answer, "risk", asks)
		h.add(0, answer, "answer-given", `{"event": {"round": 1, "answers": [{"fingerprint": "c", "text": "`+answer+`"}]}}`)
		commit(answer)
	}
	decided("resumed", "fail", stuck)
	h.add(0, "resumed", "work-resumed", `{"event": {"round": 2, "mode": "rounds"}}`)
	commit("resumed")
	decided("restarted", "fail", stuck)
	h.add(0, "restarted", "work-begun", `{"event": {"round": 2}}`)
	commit("restarted")
	got := h.recount(t).samples()
	for bar, want := range map[string]float64{"all": 2, "risk": 1, "fail": 1} {
		if s := got[seriesOf(prefix+"commits_total", map[string]string{"bar": bar})]; s.value != want {
			t.Errorf("%v commits with the bar %s, want %v", s.value, bar, want)
		}
	}
}

// TestParkedAndMergedTasks counts the events that only tasks with a branch of their own
// have.
func TestParkedAndMergedTasks(t *testing.T) {
	t.Parallel()
	h := newHistory()
	const asks = `{"event": {"round": 1, "questions": [{"fingerprint": "b", "budget": "task-tokens"}]}}`
	h.add(0, "A", "work-begun", `{"event": {"round": 1, "branch": {"name": "switchyard/A"}}}`)
	h.add(0, "A", "branch-created", `{"event": {}}`)
	h.add(0, "A", "spawn-begun", `{"event": {"intents": [{"run": "r", "role": "executor", "reserve": {"tokens": 30}}]}, "limits": {"task": {"tokens": 40}}}`)
	h.add(0, "A", "spawn-ended", `{"event": {"receipt": {"run": "r", "outcome": "failed", "used": {"tokens": 30}}}}`)
	h.add(0, "A", "task-parked", `{"event": {"round": 1, "parking": {"until": "2030", "run": "r"}}}`)
	expect := func(want map[string]float64) {
		t.Helper()
		got := h.recount(t).samples()
		for key, n := range want {
			metric, value, _ := strings.Cut(key, " ")
			label := map[string]string{"tasks": "status", "stuck_total": "reason", "budget_stops_total": "budget", "budget_used_ratio_max": "budget"}[metric]
			labels := map[string]string{}
			if label != "" {
				labels[label] = value
			}
			if s := got[seriesOf(prefix+metric, labels)]; s.value != n {
				t.Errorf("%s is %v, want %v", key, s.value, n)
			}
		}
	}
	expect(map[string]float64{"tasks parked": 1, "tasks open": 0, "budget_used_ratio_max task-tokens": 0.75})
	h.add(0, "A", "parking-ended", `{"event": {"by": "expiry"}}`)
	h.add(time.Minute, "A", "question-asked", asks)
	expect(map[string]float64{"tasks waiting": 1, "questions_total": 1})
	h.add(3*time.Minute, "A", "answer-given", `{"event": {"round": 1, "answers": [{"fingerprint": "b", "text": "raise by 20 tokens"}]}}`)
	expect(map[string]float64{"tasks open": 1, "question_wait_seconds_sum": 120, "budget_used_ratio_max task-tokens": 0.5, "budget_stops_total task-tokens": 0})
	h.add(0, "A", "round-decided", `{"event": {"round": 1, "next_round": 1, "next_action": "commit", "kind": "terminal", "verify": "green", "final": true}, "decision": {"next_action": "commit"}}`)
	h.add(0, "A", "commit-created", `{"event": {"round": 1, "commit": {"sha": "c"}}}`)
	h.add(0, "A", "merge-begun", `{"event": {"into": "main"}}`)
	expect(map[string]float64{"tasks merging": 1, "tasks committed": 0, "task_rounds_count": 1, "budget_used_ratio_max task-tokens": 0})
	h.add(0, "A", "merge-ended", `{"event": {"outcome": "merge-conflict"}}`)
	expect(map[string]float64{"tasks stuck": 1, "stuck_total merge-conflict": 1})
	h.add(0, "A", "merge-begun", `{"event": {"into": "main"}}`)
	h.add(0, "A", "merge-ended", `{"event": {"outcome": "merged"}}`)
	expect(map[string]float64{"tasks committed": 1, "task_rounds_count": 1})
	h.add(0, "B", "question-asked", asks)
	h.add(0, "B", "answer-given", `{"event": {"round": 1, "answers": [{"fingerprint": "b", "text": "stop"}]}}`)
	expect(map[string]float64{"tasks stuck": 1, "stuck_total budget": 1, "budget_stops_total task-tokens": 1})
}
