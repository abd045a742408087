package oracle

import "math/bits"

// prefix is the common prefix of metric names.
const prefix = "switchyard_"

// metric is a metric that can be recounted.
type metric struct {
	// name is the metric's name without prefix.
	name   string
	labels []string
	// perUnit is the number of counted items per unit of the metric.
	perUnit int64
	// borders are the upper borders of a histogram's buckets, nil for other metrics.
	borders []border
}

// border is a fraction.
type border struct{ above, below int64 }

func (b border) float() float64 { return float64(b.above) / float64(b.below) }

// holds reports whether value/perUnit is at most the border. It is exact.
func (b border) holds(value, perUnit int64) bool {
	high, low := bits.Mul64(uint64(value), uint64(b.below))
	return high == 0 && low <= uint64(b.above*perUnit)
}

// powers returns the powers of two from 2^from to 2^to, every step-th.
func powers(from, to, step int) []border {
	var all []border
	for e := from; e <= to; e += step {
		if e < 0 {
			all = append(all, border{1, 1 << -e})
		} else {
			all = append(all, border{1 << e, 1})
		}
	}
	return all
}

func whole(numbers ...int64) []border {
	var all []border
	for _, n := range numbers {
		all = append(all, border{n, 1})
	}
	return all
}

// byName returns all recounted metrics by name.
func byName() map[string]metric {
	all := make(map[string]metric)
	for _, m := range list() {
		all[m.name] = m
	}
	return all
}

// list returns the metrics in the order of docs/metrics.md.
func list() []metric {
	count := func(name string, labels ...string) metric { return metric{name: name, labels: labels, perUnit: 1} }
	histogram := func(name string, perUnit int64, borders []border, labels ...string) metric {
		return metric{name, labels, perUnit, borders}
	}
	return []metric{
		count("rounds_total", "next_action", "policy_version"),
		count("round_verifications_total", "verify"),
		count("findings_total", "category", "severity", "route"),
		count("findings_deferred_total", "severity"),
		count("findings_induced_total"),
		count("finding_progress_total", "progress"),
		count("rounds_without_progress_total"),
		count("round_failures_total", "code"),
		count("stuck_total", "reason"),
		count("budget_stops_total", "budget"),
		{name: "budget_used_ratio_max", labels: []string{"budget"}, perUnit: 1000},
		count("resumes_total", "mode"),
		count("forced_gates_total", "phase"),
		count("questions_total"),
		histogram("question_wait_seconds", 1000, powers(0, 20, 2)),
		count("spawns_total", "agent", "adapter", "outcome"),
		count("spawn_confinement", "agent", "level"),
		count("spawn_fallbacks_total", "agent", "reason"),
		count("spawn_retries_total", "agent", "reason"),
		histogram("spawn_duration_seconds", 1000, powers(0, 12, 1)),
		count("spawn_tokens_total", "agent", "direction"),
		{name: "spawn_cost_dollars_total", labels: []string{"agent"}, perUnit: 1_000_000},
		count("tasks", "status"),
		{name: "tasks_oldest_timestamp_seconds", labels: []string{"status"}, perUnit: 1000},
		count("commits_total", "bar"),
		histogram("task_rounds", 1, whole(1, 2, 3, 4, 5, 7, 10, 20, 50, 100)),
		histogram("plugin_duration_seconds", 1_000_000, powers(-10, 5, 1), "plugin"),
		count("plugin_failures_total", "plugin", "type"),
		histogram("policy_evaluation_seconds", 1_000_000, powers(-16, 2, 2)),
		count("policy_info", "version", "digest", "adr"),
		{name: "policy_adopted_timestamp_seconds", labels: []string{"version", "digest"}, perUnit: 1000},
		count("policy_adoptions_total", "version", "digest"),
		count("ledger_events_total"),
		{name: "ledger_last_event_timestamp_seconds", perUnit: 1000},
		count("label_overflow_total", "label"),
	}
}

// dimension returns the group whose values share a label's cap, and the cap; "" for a
// label whose values Switchyard chooses.
func dimension(label string) (name string, most int) {
	switch label {
	case "next_action", "route": // Both are destinations of the policy.
		return "next_action", 16
	case "policy_version", "version":
		return "policy_version", 32
	case "category":
		return "category", 100
	case "severity":
		return "severity", 8
	case "agent":
		return "agent", 32
	case "adapter":
		return "adapter", 16
	case "plugin":
		return "plugin", 32
	case "reason":
		return "reason", 64
	case "code", "type": // The type of a failure is its code.
		return "code", 100
	case "digest":
		return "digest", 64
	case "adr":
		return "adr", 64
	default:
		return "", 0
	}
}
