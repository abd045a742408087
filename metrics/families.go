package metrics

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Families describes all metrics, ordered by name. The caller owns the slice.
func Families() []Family {
	all := slices.Concat(loopFamilies(), taskFamilies(), spawnFamilies(), pluginFamilies(), policyFamilies())
	all = append(all, ledgerFamilies(all)...)
	for i := range all {
		f := &all[i]
		for _, unit := range []string{"seconds", "dollars"} {
			if strings.HasSuffix(strings.TrimSuffix(f.Name, "_total"), "_"+unit) {
				f.Unit = unit
			}
		}
		if f.seeds == nil && (f.aggregation == sums || f.aggregation == histogramCells) {
			f.seeds = fixedSeeds(f.Labels)
		}
		f.Name = Prefix + f.Name
		f.per = max(f.per, 1)
	}
	slices.SortFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func loopFamilies() []Family {
	severities := []string{"fail", "nit", "risk"}
	// Rounds that fail because a plugin or the policy breaks.
	failures := textutil.Strings(slices.Concat(errs.PluginFailures(), errs.PolicyFailures()))
	return []Family{
		counter("rounds_total", "Decisions, by where the task goes next and by the policy that decided.",
			counters.Rounds(), openLabel("next_action"), openLabel("policy_version")).
			withSeeds(func(k Seed, seen [][]string) [][]string {
				versions := slices.Clone(k.PolicyVersions)
				for _, values := range seen {
					versions = append(versions, values[1])
				}
				return combine(k.Actions, versions)
			}),
		counter("round_verifications_total", "Decisions, by the outcome of the verification that they rest on.",
			counters.Verifications(), fixedLabel("verify", "absent", "green", "red")),
		counter("findings_total", "Findings of decisions after merging, by category, severity and where the policy routes them.",
			counters.Findings(), openLabel("category"), fixedLabel("severity", severities...), openLabel("route")).
			withSeeds(func(k Seed, _ [][]string) (all [][]string) {
				for category, route := range k.Routes {
					all = append(all, combine([]string{category}, severities, []string{route})...)
				}
				return all
			}),
		counter("findings_deferred_total", "Findings of decisions that the policy's bar defers, by severity; findings_total has the others.",
			counters.Deferred(), fixedLabel("severity", "nit", "risk")),
		counter("findings_induced_total", "Findings in lines that the last fix changed, deferred ones included.", counters.Induced()),
		counter("finding_progress_total", "Findings of reviews, by how they compare with the reviews of the task before.",
			counters.Progress(), fixedLabel("progress", "new", "reopened", "repeat", "resolved")),
		counter("rounds_without_progress_total", "Reviews that made no progress over those before.", counters.Stalled()),
		counter("round_failures_total", "Rounds that came to no decision because a plugin or the policy broke, by the code of the error.",
			counters.Failures(), fixedLabel("code", failures...)),
		counter("forced_gates_total", "Forced gates, by the phase of the round.",
			counters.Forced(), fixedLabel("phase", "commit", "design", "draft", "research", "review", "start", "tests")),
		counter("questions_total", "Questions to the user.", counters.Questions()),
		histogram("question_wait_seconds", "Time that questions to the user waited for their answers.", counters.QuestionWaits(), powers(0, 20, 2)),
	}
}

func taskFamilies() []Family {
	return []Family{
		counter("stuck_total", "Times that tasks became stuck, by the reason.", counters.Stops(), openLabel("reason")).
			withSeeds(func(Seed, [][]string) [][]string {
				return combine([]string{"budget", "by-hand", "max-rounds", "no-progress", "stuck-finding"})
			}),
		counter("budget_stops_total", "Times that tasks became stuck because a budget was exhausted, by the budget.",
			counters.BudgetStops(), fixedLabel("budget", "round-dollars", "round-time", "round-tokens", "task-dollars", "task-rounds", "task-time", "task-tokens")),
		gauge("budget_used_ratio_max", "Greatest used part of a budget among the tasks that are not committed, 1 for all of it.",
			counters.BudgetUse(), greatest, fixedLabel("budget", "task-dollars", "task-rounds", "task-time", "task-tokens")).withUnit(1000),
		counter("resumes_total", "Times that stuck tasks went on, by how.",
			counters.Resumes(), fixedLabel("mode", "manual", "replan", "reset", "rounds")),
		gauge("tasks", "Tasks, by status.", counters.Tasks(), sums, fixedLabel("status", "committed", "merging", "open", "parked", "stuck", "waiting")),
		gauge("tasks_oldest_timestamp_seconds", "Time at which the task that has had this status for the longest got it.",
			counters.BlockedTasks(), oldest, fixedLabel("status", "stuck", "waiting")),
		counter("commits_total", "Tasks that were committed, by the bar below which their findings were deferred.",
			counters.Commits(), fixedLabel("bar", "all", "fail", "risk")),
		histogram("task_rounds", "Rounds that tasks had taken when they were committed.",
			counters.TaskRounds(), []float64{1, 2, 3, 4, 5, 7, 10, 20, 50, 100}),
	}
}

// spawnFamilies describes the agents that Switchyard ran.
func spawnFamilies() []Family {
	classes := append(textutil.Strings(outcome.Classes()), "none")
	slices.Sort(classes)
	agent, reason, direction := openLabel("agent"), fixedLabel("reason", classes...), fixedLabel("direction", "cached", "in", "out")
	return []Family{
		counter("spawns_total", "Runs of agents that have ended, by what they came to.",
			counters.Spawns(), agent, openLabel("adapter"), fixedLabel("outcome", "clean", "critic-error", "edited", "failed", "findings", "lost", "no-change", "ok")).
			withSeeds(func(k Seed, _ [][]string) (all [][]string) {
				for _, a := range k.Agents {
					all = append(all, combine([]string{a.Name}, a.Adapters, a.outcomes())...)
				}
				return all
			}),
		gauge("spawn_confinement", "Confinement level of the last process of an agent that has ended, 1 for its level and 0 for the others.",
			counters.SpawnLevels(), latest, agent, fixedLabel("level", "files", "files+network", "files+ports", "none")),
		counter("spawn_fallbacks_total", "Runs after whose failure another adapter or the caller took over, by the kind of the failure.",
			counters.Fallbacks(), agent, reason).withSeeds(byAgent(classes)),
		counter("spawn_retries_total", "Runs that were tried again with the same adapter, by the kind of their failure.",
			counters.Retries(), agent, reason).withSeeds(byAgent(classes)),
		histogram("spawn_duration_seconds", "Time that runs of agents took.", counters.SpawnRuns(), powers(0, 12, 1)),
		counter("spawn_tokens_total", "Tokens that agents used, as their command-line tools reported it.",
			counters.Tokens(), agent, direction).withSeeds(byAgent(direction.Values)),
		counter("spawn_cost_dollars_total", "What agents cost, as their command-line tools reported it.",
			counters.MicroDollars(), agent).withUnit(1_000_000).withSeeds(byAgent()),
	}
}

func pluginFamilies() []Family {
	plugin := openLabel("plugin")
	const prefix = "plugin-"
	types := textutil.Strings(errs.PluginFailures())
	for i := range types {
		types[i] = strings.TrimPrefix(types[i], prefix)
	}
	return []Family{
		histogram("plugin_duration_seconds", "Time that plugins took to normalise a report.", counters.PluginRuns(), powers(-10, 5, 1), plugin).
			withSeeds(func(k Seed, _ [][]string) [][]string { return combine(k.Plugins) }),
		counter("plugin_failures_total", "Rounds that came to no decision because a plugin broke, by how.",
			counters.PluginFailures(), plugin, Label{Name: "type", trim: prefix}).
			withSeeds(func(k Seed, _ [][]string) [][]string { return combine(k.Plugins, types) }),
	}
}

func policyFamilies() []Family {
	version, digest := openLabel("version"), openLabel("digest")
	return []Family{
		histogram("policy_evaluation_seconds", "Time that the policy took for a decision.", counters.Evaluations(), powers(-16, 2, 2)),
		gauge("policy_info", "The policies that have decided, with the decision record of each, always 1.",
			counters.Policies(), ones, version, digest, openLabel("adr")),
		gauge("policy_adopted_timestamp_seconds", "Time when the project last adopted a policy.",
			counters.Adoptions(), times, version, digest),
		counter("policy_adoptions_total", "Times that the project adopted a policy.", counters.Adoptions(), version, digest),
	}
}

// ledgerFamilies describes the ledger and the program. others are the other families.
func ledgerFamilies(others []Family) []Family {
	var capped []string // dimensions
	for _, f := range others {
		for _, d := range f.counted.Labels {
			if d.Cap > 0 {
				capped = append(capped, d.Name)
			}
		}
	}
	var none counters.Measure
	overflow := counters.Measure{Name: ledger.OverflowMeasure, Labels: []counters.Dimension{{Name: "dimension"}}}
	return []Family{
		{Name: "ledger_events_total", Kind: Counter, aggregation: eventCount, Help: "Events in the ledger."},
		gauge("ledger_last_event_timestamp_seconds", "Time of the latest event in the ledger.", none, latestEvent),
		counter("label_overflow_total", "Label values that were counted as other, because the label has as many values as it may, or the value is too long.",
			overflow, openLabel("label")).
			withSeeds(func(Seed, [][]string) [][]string { return combine(capped) }),
		gauge("build_info", "The program that shows these metrics, always 1.", none, buildInfo, openLabel("version"), openLabel("goversion")),
	}
}

// counter returns a metric that shows the sums of a measure unchanged.
func counter(name, help string, m counters.Measure, labels ...Label) Family {
	return Family{Name: name, Help: help, Kind: Counter, Labels: labels, counted: counters.Distribution{Measure: m}, aggregation: sums}
}

func gauge(name, help string, m counters.Measure, a aggregation, labels ...Label) Family {
	return Family{Name: name, Help: help, Kind: Gauge, Labels: labels, counted: counters.Distribution{Measure: m}, aggregation: a}
}

func histogram(name, help string, d counters.Distribution, buckets []float64, labels ...Label) Family {
	return Family{
		Name: name, Help: help, Kind: Histogram, Labels: labels, Buckets: buckets,
		counted: d, per: d.Scale.PerUnit, aggregation: histogramCells,
	}
}

func (f Family) withSeeds(seeds func(Seed, [][]string) [][]string) Family {
	f.seeds = seeds
	return f
}

// withUnit sets the number of counted units that are 1 in the metric.
func (f Family) withUnit(per int64) Family {
	f.per = per
	return f
}

// openLabel returns a label that takes any value.
func openLabel(name string) Label { return Label{Name: name} }

// fixedLabel returns a label with a fixed list of values.
func fixedLabel(name string, values ...string) Label { return Label{Name: name, Values: values} }

// byAgent returns seeds of the known agents with all combinations of values.
func byAgent(values ...[]string) func(Seed, [][]string) [][]string {
	return func(k Seed, _ [][]string) [][]string {
		var names []string
		for _, a := range k.Agents {
			names = append(names, a.Name)
		}
		return combine(slices.Insert(slices.Clone(values), 0, names)...)
	}
}

// fixedSeeds returns seeds of all combinations of label values. If a label does not have fixed
// values, the list is empty.
func fixedSeeds(labels []Label) func(Seed, [][]string) [][]string {
	lists := make([][]string, len(labels))
	for i, l := range labels {
		lists[i] = l.Values
	}
	return func(Seed, [][]string) [][]string { return combine(lists...) }
}

// combine lists all combinations of one value from each list.
func combine(lists ...[]string) [][]string {
	all := [][]string{nil}
	for _, list := range lists {
		var longer [][]string
		for _, head := range all {
			for _, value := range list {
				longer = append(longer, append(slices.Clip(head), value))
			}
		}
		all = longer
	}
	return all
}

// powers returns the bounds 2^e for e from first to last in steps. They are exactly the
// bounds of cells.
func powers(first, last, step int) []float64 {
	var bounds []float64
	for e := first; e <= last; e += step {
		bounds = append(bounds, counters.Scale{}.Upper(e<<counters.Resolution))
	}
	return bounds
}
