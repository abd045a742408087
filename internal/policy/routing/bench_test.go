package routing_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// BenchmarkLoad measures a cost of every command that routes.
func BenchmarkLoad(b *testing.B) {
	for _, engine := range engines {
		b.Run("engine="+string(engine), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				loadOn(b, engine, policies.Default)
			}
		})
	}
}

// BenchmarkDecide checks that the cost does not depend on the number of findings.
func BenchmarkDecide(b *testing.B) {
	for _, engine := range engines {
		p := loadOn(b, engine, policies.Default)
		for name, n := range map[string]int{"findings=3": 1, "findings=30000": 10_000} {
			in := routing.Input{
				Round: 1, MaxRounds: 3, FindingCount: 3 * n, Verify: routing.Green, NewCount: 3 * n,
				Routes: map[string]int{"executor": 2 * n, "researcher": n},
			}
			b.Run("engine="+string(engine)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Decide(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkBothRules compares a decision of a policy with a bar, which takes both rules,
// with the rule decision alone. It should take at most 1.5 times as long.
func BenchmarkBothRules(b *testing.B) {
	p := loadOn(b, routing.EngineRego, policies.Default)
	in := routing.Input{
		Round: 4, MaxRounds: 9, FindingCount: 3, Verify: routing.Green, NewCount: 3,
		Routes: map[string]int{"executor": 2, "researcher": 1},
	}
	for _, both := range []bool{false, true} {
		name := "rules=decision"
		if both {
			name = "rules=bar+decision"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if both {
					if _, err := p.Bar(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := p.Decide(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBranches measures the cost of explaining a first decision, BenchmarkMatching
// of each further one.
func BenchmarkBranches(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := loadOn(b, routing.EngineRego, policies.Default).Branches(b.Context(), routing.DecisionRule); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatching(b *testing.B) {
	l, err := loadOn(b, routing.EngineRego, policies.Default).Branches(b.Context(), routing.DecisionRule)
	if err != nil {
		b.Fatal(err)
	}
	in := routing.Input{
		Round: 3, MaxRounds: 3, FindingCount: 2, Verify: routing.Red, NewCount: 2,
		Routes: map[string]int{"stuck": 1, "executor": 1},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Matching(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkThresholds measures loading and analyzing a policy.
func BenchmarkThresholds(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		loadOn(b, routing.EngineRego, policies.Default).Thresholds(routing.DecisionRule)
	}
}
