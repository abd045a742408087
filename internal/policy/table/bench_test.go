package table

import (
	"context"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// BenchmarkDecide compares a decision of the interpreter, of a table of single inputs and
// of a table of classes.
func BenchmarkDecide(b *testing.B) {
	p := load(b, "routing@1.3.0")
	in := routing.Input{
		Round: 1, MaxRounds: 3, FindingCount: 3, Verify: routing.Green, NewCount: 3,
		Routes: map[string]int{"executor": 2, "researcher": 1},
	}
	in, err := p.Read(in)
	if err != nil {
		b.Fatal(err)
	}
	inputs, classes := New(p), withClasses(b, p)
	for name, ask := range map[string]func(context.Context, routing.Rule, routing.Input) (routing.Decision, error){
		"interpreter": p.AskOrCode, "inputs": inputs.Ask, "classes": classes.Ask,
	} {
		for _, rule := range []routing.Rule{routing.DecisionRule, routing.BarRule} {
			b.Run("by="+name+"/rule="+string(rule), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := ask(b.Context(), rule, in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
