package explain_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// barred loads routing 1.2.0 with a bar, and with decisions that read facts.
func barred(t *testing.T, bar string) *routing.Policy {
	t.Helper()
	text := load(t).Sources()[0].Text
	text = strings.Replace(text, "input.round >= input.max_rounds", "input.round >= input.max_rounds\n\tnot input.may_extend", 1)
	text = strings.Replace(text, "input.stalled_rounds >= 2", "input.induced_rounds >= 3", 1)
	const commits = `} else := {"next_action": "commit", "reason": "no-findings"} if {`
	text = strings.Replace(text, commits, `} else := {"next_action": "stuck", "reason": "unconfined"} if {`+"\n\tinput.finding_count == 0\n\tinput.confinement == \"none\"\n"+commits, 1)
	path := filepath.Join(t.TempDir(), "routing.rego")
	if err := os.WriteFile(path, []byte(text+"\nbar := "+bar+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(t.Context(), filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExplainBar(t *testing.T) {
	p := barred(t, `"fail" if input.reviews_since_low >= 3 else := "risk" if {
	input.reviews_since_low >= 1
	input.rounds_left <= 2
} else := "all"`)
	in := routing.Input{
		Round: 3, MaxRounds: 3, FindingCount: 2, Routes: map[string]int{"executor": 2}, Verify: routing.Green, NewCount: 2, ResolvedCount: 1,
		Facts: &routing.Facts{HardCap: 6, RoundsLeft: 3, FirstTimeCount: 2, ReviewsSinceLow: 1, BlockingCount: 1, Confinement: confinement.None},
	}
	for _, c := range []struct {
		sinceLow, left int
		bar            routing.Bar
		branch         int
		want           string
	}{
		{1, 3, routing.BarAll, 2, "with rounds_left 2 in place of 3: risk"},
		{2, 3, routing.BarAll, 2, "with reviews_since_low 3 in place of 2: fail; with rounds_left 2 in place of 3: risk"},
		{1, 2, routing.BarRisk, 1, "with reviews_since_low 0 in place of 1: all; with rounds_left 3 in place of 2: all"},
		{4, 1, routing.BarFail, 0, "with reviews_since_low 2 in place of 4: risk"},
	} {
		in.ReviewsSinceLow, in.HardCap, in.RoundsLeft = c.sinceLow, 3+c.left, c.left
		e, err := explain.ExplainBar(t.Context(), p, in)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, change := range e.Changes {
			words = append(words, change.Words+": "+string(change.Bar))
		}
		if got := strings.Join(words, "; "); e.Bar != c.bar || e.Rule == nil || e.Rule.Index != c.branch || got != c.want {
			t.Errorf("%d since the low, %d left: bar %s by %+v, %s; want %s by branch %d, %s", c.sinceLow, c.left, e.Bar, e.Rule, got, c.bar, c.branch, c.want)
		}
	}
	in.Facts = nil
	if e, err := explain.ExplainBar(t.Context(), p, in); err != nil || e.Bar != routing.BarAll || len(e.Changes) != 0 {
		t.Errorf("a first review: %+v, %v", e, err)
	}
}

// endsAfter is a context that ends after n calls of Err.
type endsAfter struct {
	context.Context
	n int
}

func (c *endsAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// A context that ends during the search leads to an error or a complete explanation.
func TestExplainBarReturnsSomething(t *testing.T) {
	p := barred(t, `"risk" if input.reviews_since_low >= 1 else := "all"`)
	in := routing.Input{
		Round: 1, MaxRounds: 3, FindingCount: 1, Routes: map[string]int{"executor": 1}, Verify: routing.Green, NewCount: 1,
		Facts: &routing.Facts{HardCap: 6, RoundsLeft: 5, FirstTimeCount: 1, Confinement: confinement.None},
	}
	for n := range 5 {
		if e, err := explain.ExplainBar(&endsAfter{t.Context(), n}, p, in); err == nil && (e == nil || len(e.Changes) == 0) {
			t.Errorf("after %d calls: %+v without an error", n, e)
		}
	}
}

// A change of an input with facts never contradicts them.
func TestCounterfactualsOfFacts(t *testing.T) {
	p := barred(t, `"all"`)
	d, err := inputspace.Of(routing.DecisionRule, p)
	if err != nil {
		t.Fatal(err)
	}
	changed := make(map[string]bool)
	const samples = 200
	for i := range samples {
		in := d.Sample(i*d.Len()/samples, uint64(i))
		before := *in.Facts
		e, err := explain.Explain(t.Context(), p, in)
		if err != nil {
			t.Fatalf("%+v %+v: %v", in, before, err)
		}
		if *in.Facts != before {
			t.Fatalf("the facts became %+v, were %+v", *in.Facts, before)
		}
		checkCounterfactuals(t, p, e)
		for _, f := range e.Counterfactuals {
			for _, c := range f.Changes {
				changed[c.Fact] = true
			}
		}
	}
	if !(changed["may_extend"] && changed["induced_rounds"] && changed["confinement"]) {
		t.Errorf("no change of the facts was tried: %v", changed)
	}
}
