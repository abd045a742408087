package policies_test

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/policies"
)

// A round with two findings for the executor and one for the researcher.
func Example() {
	ctx := context.Background()
	policy, err := policies.Load(ctx, policies.Default)
	if err != nil {
		fmt.Println(err)
		return
	}

	routes := make(map[string]int)
	for _, category := range []string{"todo-marker", "missing-test", "information-missing"} {
		destination, _ := policy.Route(category)
		routes[destination]++
	}
	decision, err := policy.Decide(ctx, policies.Input{
		Round: 1, MaxRounds: 3, FindingCount: 3, Routes: routes, Verify: policies.Green, NewCount: 3,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	next, _ := policy.Destination(decision.NextAction)
	fmt.Println(decision.NextAction, decision.Reason, next.AdvancesRound)
	// Output: researcher routed true
}
