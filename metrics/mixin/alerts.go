package mixin

import (
	"fmt"
	"strings"
)

// The severities.
const (
	critical = "critical"
	warning  = "warning"
	info     = "info"
)

// alert is an alert whose runbook is the part of docs/monitoring.md of its name.
// LEDGER in what it says stands for the label that tells people best which one it is.
func alert(name, severity, duration, meaning, expr, summary, description string) Rule {
	const ledger = `{{ or $labels.project $labels.instance $labels.job }}`
	return Rule{
		Alert: name, Meaning: meaning, Expr: expr, For: duration, Labels: &Labels{severity},
		Annotations: &Annotation{
			Summary:     strings.ReplaceAll(summary, "LEDGER", ledger),
			Description: strings.ReplaceAll(description, "LEDGER", ledger),
			Runbook:     "docs/monitoring.md#" + strings.ToLower(name),
		},
	}
}

// loopAlerts are about rounds and tasks.
func loopAlerts(t Thresholds) Group {
	hold := span(t.For)
	return Group{Name: "switchyard.loop", Interval: "1m", Rules: []Rule{
		alert("SwitchyardRoundFailures", warning, hold,
			fmt.Sprintf("more than %s of a day's rounds came to no decision, and at least %d", percent(t.Failures), t.FailuresLeast),
			fmt.Sprintf("switchyard:round_failures_per_attempts:ratio_increase1d > %g\nand increase(switchyard:round_failures:sum[1d]) >= %d",
				t.Failures, t.FailuresLeast),
			"Rounds fail in LEDGER",
			"{{ $value | humanizePercentage }} of the rounds of the last day came to no decision."),
		alert("SwitchyardTasksStuckTooLong", warning, "",
			"a task has been stuck for more than "+span(t.Stuck),
			standing("stuck", t.Stuck.Seconds()),
			"A task is stuck in LEDGER",
			"A task has been stuck for {{ $value | humanizeDuration }}. Nothing goes on before a person resumes it."),
		alert("SwitchyardTasksWaitingTooLong", warning, "",
			"a task has waited for an answer for more than "+span(t.Waiting),
			standing("waiting", t.Waiting.Seconds()),
			"A question waits for its answer in LEDGER",
			"A task has been waiting for an answer for {{ $value | humanizeDuration }}."),
		alert("SwitchyardNotConverging", warning, hold,
			fmt.Sprintf("of a week's commits and stops, of which there are at least %d, less than %s are commits", t.EndedLeast, percent(t.Committed)),
			fmt.Sprintf("switchyard:tasks_committed_per_ended:ratio_increase7d < %g\nand switchyard:tasks_ended:increase7d >= %d",
				t.Committed, t.EndedLeast),
			"More tasks get stuck than are committed in LEDGER",
			"Of the tasks that were committed or got stuck in the last week, {{ $value | humanizePercentage }} were committed."),
		alert("SwitchyardBudgetNearlyUsed", warning, "",
			fmt.Sprintf("an unfinished task has used more than %s of a budget", percent(t.Budget)),
			fmt.Sprintf("switchyard_budget_used_ratio_max > %g", t.Budget),
			"A task in LEDGER has nearly used up its budget",
			"{{ $value | humanizePercentage }} of the budget {{ $labels.budget }} of a task is used. It gets stuck where the rest does not cover the next spawn."),
	}}
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%g %%", 100*share) }

// standing holds where the task that stands longest in a status does so for too long.
// It compares a time with the clock, and so goes on where nobody writes the metrics
// anew because nothing happens.
func standing(status string, seconds float64) string {
	return fmt.Sprintf("time() - switchyard_tasks_oldest_timestamp_seconds{status=%q} > %.0f", status, seconds)
}

// spawnAlerts are about agents.
func spawnAlerts(t Thresholds) Group {
	hold := span(t.For)
	fallbacks := func(window string, share float64, least int) string {
		return fmt.Sprintf("(\n  switchyard:spawn_fallbacks_per_spawns:ratio_increase%[1]s > %[2]g\n"+
			"  and increase(switchyard:spawns:sum[%[1]s]) >= %[3]d\n)", window, share, least)
	}
	return Group{Name: "switchyard.spawns", Interval: "1m", Rules: []Rule{
		alert("SwitchyardFallbackRateHigh", warning, hold,
			fmt.Sprintf("more than %s of at least %d runs of an hour fell back, or more than %s of at least %d of a day",
				percent(t.FallbackHour), t.SpawnsHour, percent(t.FallbackDay), t.SpawnsDay),
			fallbacks("1h", t.FallbackHour, t.SpawnsHour)+"\nor\n"+fallbacks("1d", t.FallbackDay, t.SpawnsDay),
			"Headless spawns fall back in LEDGER",
			"{{ $value | humanizePercentage }} of the agents' runs failed, so that another adapter or the caller took over."),
		alert("SwitchyardCriticErrors", warning, hold,
			fmt.Sprintf("more than %s of a day's runs ended in critic-error, and at least %d", percent(t.CriticErrors), t.CriticErrorsLeast),
			fmt.Sprintf("switchyard:spawn_critic_errors_per_spawns:ratio_increase1d > %g\nand increase(switchyard:spawn_critic_errors:sum[1d]) >= %d",
				t.CriticErrors, t.CriticErrorsLeast),
			"Critics' reports cannot be trusted in LEDGER",
			"{{ $value | humanizePercentage }} of the agents' runs of the last day ended in critic-error."),
		alert("SwitchyardCostHigh", warning, hold,
			fmt.Sprintf("a day's runs cost more than %g dollars", t.DollarsDay),
			fmt.Sprintf("increase(switchyard:spawn_cost_dollars:sum[1d]) > %g", t.DollarsDay),
			"Agents cost much in LEDGER",
			"The agents of the last day cost {{ $value | humanize }} dollars."),
	}}
}

// policyAlerts are about the policy and what it knows.
func policyAlerts(t Thresholds) Group {
	hold := span(t.For)
	return Group{Name: "switchyard.policy", Interval: "1m", Rules: []Rule{
		alert("SwitchyardPolicyDrift", warning, hold,
			fmt.Sprintf("within %s of its adoption, a policy sends %s more of the rounds another way than chance explains, and both it and the one before have decided at least %d",
				span(t.DriftFor), percent(t.Drift), t.DriftRounds),
			fmt.Sprintf("(switchyard:policy_drift:distance > switchyard:policy_drift:noise + %g)\n"+
				"* ignoring (policy_version) group_right ()\n"+
				"(switchyard_policy_version:policy_current_timestamp_seconds:max > bool time() - %.0f)\n> 0", t.Drift, t.DriftFor.Seconds()),
			"Policy {{ $labels.policy_version }} sends rounds elsewhere than the one before in LEDGER",
			"Since policy {{ $labels.policy_version }} was adopted, {{ $value | humanizePercentage }} of the rounds go another way than under the one before. That is more than chance explains."),
		alert("SwitchyardLabelOverflow", info, "",
			"something was counted as other within a day",
			"increase(switchyard_label_overflow_total[1d]) > 0",
			"Values of {{ $labels.label }} are lumped together in LEDGER",
			"{{ $value | humanize }} times in the last day something was counted as other, because {{ $labels.label }} has as many values as the ledger keeps apart, or they are too long."),
	}}
}
