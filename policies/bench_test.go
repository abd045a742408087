package policies_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/policies"
)

// BenchmarkLoad is on the way of every command that routes.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policies.Load(b.Context(), policies.Default); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecide must cost the same whatever the number of findings.
func BenchmarkDecide(b *testing.B) {
	p, err := policies.Load(b.Context(), policies.Default)
	if err != nil {
		b.Fatal(err)
	}
	for name, n := range map[string]int{"findings=3": 1, "findings=30000": 10_000} {
		in := policies.Input{
			Round: 1, MaxRounds: 3, FindingCount: 3 * n, Verify: policies.Green, NewCount: 3 * n,
			Routes: map[string]int{"executor": 2 * n, "researcher": n},
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Decide(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
