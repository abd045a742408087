package explain_test

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// The last round of a task, with two findings and a broken build.
func Example() {
	ctx := context.Background()
	policy, err := policies.Load(ctx, "routing@1.2.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := explain.Explain(ctx, policy, routing.Input{
		Round: 3, MaxRounds: 3, FindingCount: 2, Routes: map[string]int{"executor": 2}, Verify: routing.Red, NewCount: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Decision.NextAction, "because of", e.Decision.Reason)
	for _, way := range e.ReachableBy {
		fmt.Printf("%s %s\n", way.Decision.NextAction, way.Words())
	}
	// Output:
	// stuck because of max-rounds
	// executor with a cap of 4 rounds
	// commit without the 2 findings for executor and with a green verification
}
