package explain_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// BenchmarkExplain measures a typical round, and the worst one for routing@1.2.0.
func BenchmarkExplain(b *testing.B) {
	p := load(b)
	for name, in := range map[string]routing.Input{
		"typical": input(1, 3, routing.Red, map[string]int{"executor": 5, "researcher": 1}),
		"worst": stalled(input(99, 5, routing.Red,
			map[string]int{"stuck": 10, "askuser": 10, "plan-checker": 10, "researcher": 10, "executor": 10}), 2),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := explain.Explain(b.Context(), p, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
