package metrics

import "github.com/switchyard-dev/switchyard/internal/counters"

func policyFamilies() []Family {
	version, digest := open("version"), open("digest")
	return []Family{
		seconds("policy_evaluation_seconds", "Time that the policy took for a decision.",
			counters.Evaluations(), powers(exponents(-16, 2, 2)...)),
		{
			Name: "policy_info", Kind: Gauge, Labels: []Label{version, digest, open("adr")}, measure: counters.Policies(), aggregation: ones,
			Help: "The policies that have decided, with the decision record of each, always 1.",
		},
		{
			Name: "policy_adopted_timestamp_seconds", Kind: Gauge, Unit: "seconds", Labels: []Label{version, digest}, measure: counters.Adoptions(), aggregation: times,
			Help: "Time when the project last adopted a policy.",
		},
		counter("policy_adoptions_total", "Times that the project adopted a policy.", counters.Adoptions(), version, digest),
	}
}
