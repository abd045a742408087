package metrics

import (
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func loopFamilies() []Family {
	rounds := counter("rounds_total", "Decisions, by where the task goes next and by the policy that decided.",
		counters.Rounds(), open("next_action"), open("policy_version"))
	rounds.seeds = func(k Seed, seen [][]string) [][]string {
		versions := slices.Clone(k.PolicyVersions)
		for _, values := range seen {
			versions = append(versions, values[1])
		}
		slices.Sort(versions)
		return combined(k.Actions, slices.Compact(versions))
	}
	findings := counter("findings_total", "Findings of decisions after merging, by category, severity and where the policy routes them.",
		counters.Findings(), open("category"), of("severity", severities()...), open("route"))
	findings.seeds = func(k Seed, _ [][]string) [][]string {
		var all [][]string
		for _, category := range slices.Sorted(maps.Keys(k.Routes)) {
			all = append(all, combined([]string{category}, severities(), []string{k.Routes[category]})...)
		}
		return all
	}
	return []Family{
		rounds,
		counter("round_verifications_total", "Decisions, by the outcome of the verification that they rest on.",
			counters.Verifications(), of("verify", "absent", "green", "red")),
		findings,
		counter("finding_progress_total", "Findings of reviews, by how they compare with the reviews of the task before.",
			counters.Progress(), of("progress", "new", "reopened", "repeat", "resolved")),
		counter("rounds_without_progress_total", "Reviews that made no progress over those before.", counters.Stalled()),
		counter("round_failures_total", "Rounds that came to no decision because a plugin or the policy broke, by the code of the error.",
			counters.Failures(), of("code", failureCodes()...)),
		counter("forced_gates_total", "Gates that somebody forced, by the phase of the round.",
			counters.Forced(), of("phase", "commit", "design", "draft", "research", "review", "start", "tests")),
		counter("questions_total", "Questions to the user.", counters.Questions()),
		seconds("question_wait_seconds", "Time that questions to the user waited for their answers.",
			counters.QuestionWaits(), powers(exponents(0, 20, 2)...)),
	}
}

// severities are those of findings.
func severities() []string { return []string{"fail", "nit", "risk"} }

// failureCodes are the codes of rounds that fail because a plugin or the policy breaks.
func failureCodes() []string {
	var all []string
	for _, code := range slices.Concat(errs.PluginFailures(), errs.PolicyFailures()) {
		all = append(all, string(code))
	}
	return all
}
