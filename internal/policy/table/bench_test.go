package table

import (
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
	for _, by := range []struct {
		name   string
		decide func() (routing.Decision, error)
		bar    func() (routing.Decision, error)
	}{
		{"interpreter", func() (routing.Decision, error) { return p.DecideOrCode(b.Context(), in) }, func() (routing.Decision, error) { return p.BarOrCode(b.Context(), in) }},
		{"inputs", func() (routing.Decision, error) { return inputs.Decide(b.Context(), in) }, func() (routing.Decision, error) { return inputs.Bar(b.Context(), in) }},
		{"classes", func() (routing.Decision, error) { return classes.Decide(b.Context(), in) }, func() (routing.Decision, error) { return classes.Bar(b.Context(), in) }},
	} {
		for rule, decide := range map[string]func() (routing.Decision, error){"decision": by.decide, "bar": by.bar} {
			b.Run("by="+by.name+"/rule="+rule, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := decide(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
