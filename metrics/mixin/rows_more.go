package mixin

func spawnRow() Row {
	return Row{"Agents and what they cost", []Panel{
		counted("Runs by outcome", "", "switchyard_spawns_total", "outcome", 8),
		counted("Runs by agent", "", "switchyard_spawns_total", "agent", 8),
		counted("Runs by adapter", "", "switchyard_spawns_total", "adapter", 8),
		{"Share that fell back", "", Lines, 8, 8, unitShare, []Query{
			query("switchyard:spawn_fallbacks_per_spawns:ratio_increase1h{@}", "of an hour "+ledger),
			query("switchyard:spawn_fallbacks_per_spawns:ratio_increase1d{@}", "of a day "+ledger),
		}},
		counted("Fell back, by reason", "", "switchyard_spawn_fallbacks_total", "reason", 8),
		counted("Tried again, by reason", "", "switchyard_spawn_retries_total", "reason", 8),
		followed("Ended in critic-error, share of a day", "", unitShare, ledger, 8, "switchyard:spawn_critic_errors_per_spawns:ratio_increase1d"),
		quantiles("How long runs take", "In the time that is shown up to then.", "switchyard_spawn_duration_seconds", 8),
		followed("95 % of a day's runs take less", "", unitSeconds, ledger, 8, "switchyard:spawn_duration_seconds:p95_increase1d"),
		counted("Tokens", "", "switchyard_spawn_tokens_total", "direction", 8),
		{"Cost by agent", "", Bars, 8, 8, unitDollars, []Query{
			query("sum by (agent) (increase(switchyard_spawn_cost_dollars_total{@}[$__rate_interval]))", "{{agent}}"),
		}},
		followed("Cost of a committed task, mean of a week", "What all runs cost, by the tasks that were committed.", unitDollars, ledger, 8,
			"switchyard:spawn_cost_dollars_per_committed_task:ratio_increase7d"),
		{"Budgets in use", "Of the unfinished task that has used the most of its budget.", Lines, 12, 8, unitShare, []Query{
			query("max by (budget) (switchyard_budget_used_ratio_max{@})", "{{budget}}"),
		}},
		counted("Stopped by a budget", "", "switchyard_budget_stops_total", "budget", 12),
	}}
}

func policyRow() Row {
	return Row{"Policy", []Panel{
		{"Policies that have decided", "", List, 12, 8, "", []Query{
			query("max by (project, version, digest, adr) (switchyard_policy_info{@})", ""),
		}},
		{"Adopted", "", Bars, 12, 8, unitCount, []Query{
			query("sum by (version) (increase(switchyard_policy_adoptions_total{@}[$__rate_interval]))", "{{version}}"),
		}},
		followed("Where each policy sends rounds", "Of all rounds that it has ever decided.", unitShare, "{{policy_version}} {{next_action}} {{project}}", 12,
			"switchyard_policy_version_next_action:rounds:share"),
		{"Drift", "How many of the rounds go another way under the policy that was adopted last than under the one before, " +
			"and how many would by chance, at most, if nothing had changed.", Lines, 12, 8, unitShare, []Query{
			query("switchyard:policy_drift:distance{@}", "drift "+ledger),
			query("switchyard:policy_drift:noise{@}", "chance "+ledger),
		}},
		quantiles("How long a decision takes", "In the time that is shown up to then.", "switchyard_policy_evaluation_seconds", 12),
		{"How long plugins take", "95 % take less, in the time that is shown up to then.", Lines, 12, 8, unitSeconds, []Query{
			query("histogram_quantile(0.95, sum by (le, plugin) (increase(switchyard_plugin_duration_seconds_bucket{@}[$__range])))\n"+
				"or histogram_quantile(0.95, sum by (plugin) (increase(switchyard_plugin_duration_seconds{@}[$__range])))", "{{plugin}}"),
		}},
	}}
}

func healthRow() Row {
	return Row{"Health", []Panel{
		ranked("Rounds that failed, by code", "In the time that is shown: a plugin or the policy broke. docs/errors.md says what each code means.", "switchyard_round_failures_total", "code", 8),
		followed("Rounds that failed, share of a day", "", unitShare, ledger, 8, "switchyard:round_failures_per_attempts:ratio_increase1d"),
		{"Plugins that failed", "", Bars, 8, 8, unitCount, []Query{
			query("sum by (plugin, type) (increase(switchyard_plugin_failures_total{@}[$__rate_interval]))", "{{plugin}} {{type}}"),
		}},
		{"Events in the ledger", "", Bars, 8, 8, unitCount, []Query{
			query("sum by (instance, project) (increase(switchyard_ledger_events_total{@}[$__rate_interval]))", ledger),
		}},
		number("Newest event", "A project where nothing happens is not stale.", unitAgo,
			"switchyard_ledger_last_event_timestamp_seconds{@} * 1000", ledger).wide(4),
		number("Counted as other", "How often a label had as many values as the ledger keeps apart.", unitCount,
			"sum by (label) (switchyard_label_overflow_total{@}) > 0", "{{label}}"),
		{"Programs", "What shows these metrics.", List, 8, 8, "", []Query{
			query("max by (job, instance, project, version, goversion) (switchyard_build_info{@})", ""),
		}},
	}}
}
