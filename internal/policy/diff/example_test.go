package diff_test

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/policies"
)

// The changes of ADR-0002, and the version that they require.
func Example() {
	ctx := context.Background()
	before, err := policies.Load(ctx, "routing@1.0.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := policies.Load(ctx, "routing@1.1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := diff.Compare(ctx, before, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	step, _ := d.Step()
	fmt.Println(d.Summary())
	fmt.Println(step, diff.NextVersion(d.From.Version, step))
	// Output:
	// 5 categories added
	// minor 1.1.0
}
