package table

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// examples are changes of routing 1.3.0, by which it reads further fields.
var examples = map[string][]string{
	"a required confinement": {`decision := {"next_action": "stuck", "reason": "stuck-finding"} if {`,
		`decision := {"next_action": "askuser", "reason": "unconfined"} if {
	input.finding_count == 0
	input.verify != "red"
	input.confinement != "files+network"
} else := {"next_action": "stuck", "reason": "stuck-finding"} if {`},
	"the hard cap":        {`not input.may_extend`, `input.round != input.hard_cap`},
	"the induced count":   {`input.induced_rounds >= 3`, `input.induced_count > 1`},
	"the deferred count":  {`input.induced_rounds >= 3`, `input.deferred_count in {1, 4}`},
	"the counts of kinds": {`input.stalled_rounds >= 2`, `input.reopened_count > 1`},
	"one destination":     {`input.stalled_rounds >= 2`, `input.routes.executor > 3`},
	"the caps":            {`input.stalled_rounds >= 2`, `input.max_rounds < 4`},
	"the blocking count":  {`input.reviews_since_low >= 3`, `input.blocking_count > 2`},
	"bars by kinds":       {`input.reviews_since_low >= 3`, `input.repeat_count > 2`},
}

// The table of every released version, and of the examples, decides like its policy.
func TestTablesDecideLikeTheirPolicies(t *testing.T) {
	type subject struct {
		policy   *routing.Policy
		all, few int // random inputs
	}
	subjects := make(map[string]subject)
	for _, ref := range policies.Versions() {
		subjects[ref] = subject{load(t, ref), 1_000_000, 1000}
	}
	for _, name := range exhaustive.Sample(slices.Sorted(maps.Keys(examples)), 2) {
		subjects[name] = subject{changed(t, "1.3.0", examples[name]...), 50_000, 500}
	}
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := withClasses(t, s.policy)
			if n, d := differences(t, table, s.policy, exhaustive.Count(s.few, s.all)); n > 0 {
				t.Errorf("%d inputs are decided otherwise, such as %s", n, d)
			}
			if n := len(table.rules[routing.DecisionRule].answers); n != table.rules[routing.DecisionRule].classes.Len() {
				t.Errorf("it has %d decisions for %d classes", n, table.rules[routing.DecisionRule].classes.Len())
			}
		})
	}
}

// If a table were used for another policy, of which one threshold differs, the comparison
// of the test before would fail.
func TestATableOfAnotherPolicyIsFound(t *testing.T) {
	table := withClasses(t, load(t, "routing@1.3.0"))
	for i := range table.rules[routing.DecisionRule].classes.Len() {
		ask(t, table, table.rules[routing.DecisionRule].classes.At(i))
	}
	for i := range table.rules[routing.BarRule].classes.Len() {
		ask(t, table, table.rules[routing.BarRule].classes.At(i))
	}
	for _, change := range [][]string{
		{`input.stalled_rounds >= 2`, `input.stalled_rounds >= 3`},
		{`input.induced_rounds >= 3`, `input.induced_rounds >= 4`},
		{`input.round >= input.max_rounds`, `input.round > input.max_rounds`},
		{`input.reviews_since_low >= 3`, `input.reviews_since_low >= 4`},
		{`input.round >= 5`, `input.round >= 6`},
		{`input.rounds_left <= 1`, `input.rounds_left <= 2`},
	} {
		t.Run(change[1], func(t *testing.T) {
			if n, _ := differences(t, table, changed(t, "1.3.0", change...), 100); n == 0 {
				t.Error("all inputs are decided alike")
			}
		})
	}
}

// A policy whose classes do not hold decides every single input.
func TestNoClassesForOtherPolicies(t *testing.T) {
	for name, change := range map[string][]string{
		"arithmetic":          {"1.2.0", `input.stalled_rounds >= 2`, `input.finding_count % 7 == 3`},
		"a reason by numbers": {"1.2.0", `{"next_action": _strongest, "reason": "routed"}`, `{"next_action": _strongest, "reason": sprintf("routed-%d", [input.finding_count])}`},
		"a comparison":        {"1.2.0", `input.stalled_rounds >= 2`, `input.new_count > input.repeat_count`},
		"a bar by arithmetic": {"1.3.0", `input.reviews_since_low >= 3`, `input.finding_count % 2 == 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := changed(t, change[0], change[1:]...)
			table := New(p)
			if err := table.useClasses(t.Context()); err != nil {
				t.Fatal(err)
			}
			if table.rules[routing.DecisionRule].classes != nil || table.rules[routing.BarRule].classes != nil {
				t.Fatal("it has classes")
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				in := anyInput(random, p)
				if d := difference(t, table, p, in); d != "" {
					t.Fatal(d)
				}
			}
		})
	}
}

// A table uses classes after maxInputs different inputs. From then on it interprets each
// class once.
func TestClassesAfterManyInputs(t *testing.T) {
	p := load(t, "routing@1.2.0")
	table := New(p)
	interpreted := count(table)
	random := rand.New(rand.NewPCG(1, 2))
	for before := (routing.Input{Round: 1, MaxRounds: 1, Verify: routing.Green}); table.rules[routing.DecisionRule].classes == nil; {
		in := anyInput(random, p)
		for _, in := range []routing.Input{before, in} { // The one before is in memory.
			if _, err := table.Ask(t.Context(), routing.DecisionRule, in); err != nil {
				t.Fatal(err)
			}
		}
		before = in
	}
	if *interpreted != maxInputs {
		t.Errorf("%d inputs are interpreted, want %d", *interpreted, maxInputs)
	}
	*interpreted = 0
	for range 2 * maxInputs {
		if _, err := table.Ask(t.Context(), routing.DecisionRule, anyInput(random, p)); err != nil {
			t.Fatal(err)
		}
	}
	if n := table.rules[routing.DecisionRule].classes.Len(); *interpreted == 0 || *interpreted > n {
		t.Errorf("%d inputs are interpreted, want one for each of at most %d classes", *interpreted, n)
	}
}

// Without classes, the single inputs of a table are bounded.
func TestInputsAreBounded(t *testing.T) {
	p := load(t, "routing@1.2.0")
	table := New(p)
	table.checked = true // The check has failed.
	for i := 0; len(table.rules[routing.DecisionRule].answers) < maxInputs-1; i++ {
		table.rules[routing.DecisionRule].answers[fmt.Sprint(i)] = routing.Decision{}
	}
	in := routing.Input{Round: 1, MaxRounds: 1, Verify: routing.Green}
	for range 2 {
		if d := difference(t, table, p, in); d != "" {
			t.Fatal(d)
		}
	}
	if n := len(table.rules[routing.DecisionRule].answers); n != 1 {
		t.Errorf("%d inputs are remembered, want the last one", n)
	}
}

// An input that the policy rejects has no class.
func TestRejectedInputsHaveNoClass(t *testing.T) {
	p := load(t, "routing@1.2.0")
	table := withClasses(t, p)
	good := routing.Input{Round: 1, MaxRounds: 3, FindingCount: 1, NewCount: 1, Routes: map[string]int{"executor": 1}, Verify: routing.Green}
	bad := good
	bad.NewCount = 2
	for _, in := range []routing.Input{bad, good, bad} {
		if d := difference(t, table, p, in); d != "" {
			t.Error(d)
		}
	}
	if d, _ := table.Ask(t.Context(), routing.DecisionRule, bad); d.NextAction != routing.Undecided {
		t.Errorf("the decision is %+v", d)
	}
}

// An ended context is an error, also of the check, and nothing is remembered of it.
func TestAnEndedContextIsNotRemembered(t *testing.T) {
	p := load(t, "routing@1.2.0")
	table := New(p)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.useClasses(ended); err == nil {
		t.Error("the check does not fail")
	}
	in := routing.Input{Round: 1, MaxRounds: 1, Verify: routing.Green}
	if _, err := table.Ask(ended, routing.DecisionRule, in); err == nil {
		t.Error("the decision does not fail")
	}
	if d := difference(t, table, p, in); d != "" {
		t.Error(d)
	}
}

// differences has a table and a policy decide the representatives and samples of all of
// the table's classes, and random inputs. It counts those that differ and shows one.
func differences(t *testing.T, table *Table, p *routing.Policy, random int) (n int, example string) {
	t.Helper()
	try := func(in routing.Input) {
		if d := difference(t, table, p, in); d != "" {
			n, example = n+1, d
		}
	}
	for _, d := range []*inputspace.Domain{table.rules[routing.DecisionRule].classes, table.rules[routing.BarRule].classes} {
		step := exhaustive.Count(1+d.Len()/700, 1)
		for i := range d.Len() {
			in := d.At(i)
			ask(t, table, in)
			if i%step == 0 {
				try(in)
				try(d.Sample(i, 1))
				try(d.Sample(i, 2))
			}
		}
	}
	source := rand.New(rand.NewPCG(3, 4))
	for range random {
		try(anyInput(source, p))
	}
	return n, example
}

// difference describes how a table and a policy differ about an input, "" if they do not.
func difference(t *testing.T, table *Table, p *routing.Policy, in routing.Input) string {
	t.Helper()
	got, gotBar := ask(t, table, in)
	want, err := p.AskOrCode(t.Context(), routing.DecisionRule, in)
	if err != nil {
		t.Fatal(err)
	}
	wantBar, err := p.AskOrCode(t.Context(), routing.BarRule, in)
	if err != nil {
		t.Fatal(err)
	}
	if got == want && gotBar == wantBar {
		return ""
	}
	return fmt.Sprintf("%+v %+v: %+v, %q; want %+v, %q", in, in.Facts, got, gotBar, want, wantBar)
}

func ask(t *testing.T, table *Table, in routing.Input) (decision, bar routing.Decision) {
	t.Helper()
	decision, err := table.Ask(t.Context(), routing.DecisionRule, in)
	if err != nil {
		t.Fatal(err)
	}
	if bar, err = table.Ask(t.Context(), routing.BarRule, in); err != nil {
		t.Fatal(err)
	}
	return decision, bar
}

// anyInput draws an input that the policy accepts, independent of any class.
func anyInput(random *rand.Rand, p *routing.Policy) routing.Input {
	number := func() int { return random.IntN([]int{2, 4, 8, 100, 1 << 20}[random.IntN(5)]) }
	in := routing.Input{
		Round: 1 + number()%120, MaxRounds: 1 + number()%routing.MaxRoundsLimit, Routes: make(map[string]int), ResolvedCount: number(),
		Verify: []routing.Verify{routing.Green, routing.Red, routing.Absent}[random.IntN(3)],
	}
	for _, name := range p.Precedence() {
		if random.IntN(3) == 0 {
			in.Routes[name] = number()
		}
		in.FindingCount += in.Routes[name]
	}
	if random.IntN(2) == 0 {
		in.RepeatCount = min(number(), in.FindingCount)
		in.ReopenedCount = min(number(), in.FindingCount-in.RepeatCount)
	}
	if random.IntN(8) == 0 {
		in.RepeatCount, in.ReopenedCount, in.ResolvedCount = in.FindingCount, 0, 0
	}
	in.NewCount = in.FindingCount - in.RepeatCount - in.ReopenedCount
	if in.NoProgress = in.RepeatCount == in.FindingCount && in.FindingCount > 0 && in.ResolvedCount == 0; in.NoProgress {
		in.StalledRounds = 1 + number()
	}
	if !p.HasBar() || random.IntN(16) == 0 {
		return in
	}
	levels := confinement.Levels()
	f := &routing.Facts{HardCap: min(in.MaxRounds+number(), routing.MaxRoundsLimit), DeferredCount: number(), Confinement: levels[random.IntN(len(levels))]}
	if in.Round > in.MaxRounds && in.Round <= routing.MaxRoundsLimit && random.IntN(4) == 0 {
		f.HardCap = in.Round
	}
	f.RoundsLeft = max(f.HardCap-in.Round, 0)
	f.MayExtend = f.RoundsLeft > 0 && in.Productive() && random.IntN(2) == 0
	f.BlockingCount = min(number(), in.FindingCount)
	all := in.FindingCount + f.DeferredCount
	if f.FirstTimeCount = min(number(), all); f.FirstTimeCount > 0 {
		f.ReviewsSinceLow = number()
	}
	if random.IntN(3) > 0 {
		n := min(f.BlockingCount*random.IntN(2)+number(), all)
		f.InducedCount = &n
		if f.BlockingCount > 0 && n >= f.BlockingCount {
			f.InducedRounds = number()
		}
	}
	in.Facts = f
	return in
}

// withClasses returns a table that uses classes.
func withClasses(t testing.TB, p *routing.Policy) *Table {
	t.Helper()
	table := New(p)
	if err := table.useClasses(t.Context()); err != nil || table.rules[routing.DecisionRule].classes == nil {
		t.Fatalf("the table has no classes, %v", err)
	}
	return table
}

// count counts the evaluations of the rule decision.
func count(table *Table) *int {
	n, evaluate := new(int), table.evaluate
	table.evaluate = func(ctx context.Context, rule routing.Rule, in routing.Input) (routing.Decision, error) {
		if rule == routing.DecisionRule {
			*n++
		}
		return evaluate(ctx, rule, in)
	}
	return n
}

func load(t testing.TB, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// changed is a version of routing with texts replaced.
func changed(t *testing.T, version string, oldnew ...string) *routing.Policy {
	t.Helper()
	source, err := os.ReadFile("../../../policies/routing/" + version + "/routing.rego")
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for pair := range slices.Chunk(oldnew, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("%q is not there", pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "routing.rego"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}
