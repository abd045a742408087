package inputspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// Five destinations make 31 nonempty sets. The findings of a set have 7 mixes of kinds,
// each with something resolved or not: 14 classes, and the one with only repeats and
// nothing resolved is three, stalled for 1, 2 and more rounds. Without findings there are
// 2. Each is below, at and above the cap, with three verification results.
const releasedClasses = (31*(14-1+3) + 2) * 3 * 3

// A version with facts compares the rounds whose fixes caused all failures: 0 without
// findings; else 0 or 1, 2, 3, and more. A mix of new findings with something resolved is
// productive unless verification is red, and the task then may pass its cap or not.
const classesWithFacts = 31*((14-1+3)*3*3+3*2)*4 + 2*3*3 + 3*2

func TestReleasedVersionsShareADomain(t *testing.T) {
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		want := releasedClasses
		if p.HasBar() {
			want = classesWithFacts
		}
		d := of(t, p)
		if d.Len() != want {
			t.Errorf("%s: %d classes, want %d", ref, d.Len(), want)
		}
		if gaps := d.Gaps(); len(gaps) > 0 {
			t.Errorf("%s: nobody can bound %v", ref, gaps)
		}
		if got, want := d.Destinations(), []string{"stuck", "askuser", "plan-checker", "researcher", "executor"}; !slices.Equal(got, want) {
			t.Errorf("%s: findings go to %v, want %v", ref, got, want)
		}
	}
}

// No input of the domain is rejected, and the smallest input of a class is decided as any
// other of it.
func TestEveryClassIsDecidedOneWay(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		d := of(t, p)
		for i := range d.Len() {
			at, probe := d.At(i), d.Sample(i, 7)
			one, err := p.Decide(t.Context(), at)
			if err != nil {
				t.Fatalf("%s: %+v: %v", ref, at, err)
			}
			other, err := p.Decide(t.Context(), probe)
			if err != nil {
				t.Fatalf("%s: %+v: %v", ref, probe, err)
			}
			if one != other {
				t.Errorf("%s: %+v is %+v, but %+v is %+v", ref, at, one, probe, other)
			}
			if inputspace.Size(at) > inputspace.Size(probe) {
				t.Errorf("%+v stands for %+v, which is simpler", at, probe)
			}
		}
	}
}

func TestRepresentativesAreTheSmallestOfTheirClass(t *testing.T) {
	d := of(t, load(t, "routing@1.2.0"))
	for cell, want := range map[string]routing.Input{
		"[] below green no findings": {Round: 1, MaxRounds: 2, Verify: routing.Green, Routes: map[string]int{}},
		"[] at red no findings, resolved": {
			Round: 1, MaxRounds: 1, Verify: routing.Red, Routes: map[string]int{}, ResolvedCount: 1,
		},
		"[executor] above absent new": {
			Round: 2, MaxRounds: 1, Verify: routing.Absent, FindingCount: 1, Routes: map[string]int{"executor": 1}, NewCount: 1,
		},
		"[researcher] below green stalled 3+": {
			Round: 1, MaxRounds: 2, Verify: routing.Green, FindingCount: 1, Routes: map[string]int{"researcher": 1},
			RepeatCount: 1, NoProgress: true, StalledRounds: 3,
		},
		// Three kinds need three findings. Two destinations can have them; the weaker one
		// gets the rest.
		"[askuser executor] below green reopened+repeat+new, resolved": {
			Round: 1, MaxRounds: 2, Verify: routing.Green, FindingCount: 3, Routes: map[string]int{"askuser": 1, "executor": 2},
			NewCount: 1, RepeatCount: 1, ReopenedCount: 1, ResolvedCount: 1,
		},
		// Three destinations need three findings, two of them new.
		"[stuck askuser executor] below green reopened+new": {
			Round: 1, MaxRounds: 2, Verify: routing.Green, FindingCount: 3, Routes: map[string]int{"stuck": 1, "askuser": 1, "executor": 1},
			NewCount: 2, ReopenedCount: 1,
		},
	} {
		at := slices.IndexFunc(inputs(d), func(in routing.Input) bool { return words(d.Class(in)) == cell })
		if at < 0 {
			t.Errorf("no class is %s", cell)
			continue
		}
		if got := d.At(at); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", cell, got, want)
		}
	}
}

func TestProbesAreDrawnBySeed(t *testing.T) {
	d := of(t, load(t, policies.Default))
	differ := 0
	for i := range d.Len() {
		a, b := d.Sample(i, 1), d.Sample(i, 1)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("class %d: one seed draws %+v and %+v", i, a, b)
		}
		if reflect.DeepEqual(a, d.At(i)) {
			t.Errorf("class %d: the probe is the representative, %+v", i, a)
		}
		if !reflect.DeepEqual(a, d.Sample(i, 2)) {
			differ++
		}
	}
	if differ < d.Len()*9/10 {
		t.Errorf("another seed draws another probe for %d of %d classes", differ, d.Len())
	}
}

// Callers may modify the returned inputs.
func TestInputsAreTheCallers(t *testing.T) {
	d := of(t, load(t, policies.Default))
	for _, get := range []func(int) routing.Input{d.At, func(i int) routing.Input { return d.Sample(i, 1) }} {
		get(0).Routes["executor"] = 99
		if n := get(0).Routes["executor"]; n == 99 {
			t.Error("a change of an input is still there")
		}
	}
}

// stride skips classes if deciding all of them would take long. It is a prime, so that
// every kind of class is visited.
const stride = 97

// Around every number that a rule compares with there are classes below, at and above it.
func TestThresholdsMakeClasses(t *testing.T) {
	for name, tc := range map[string]struct {
		condition string
		words     []string // what some classes must have
		counts    func(routing.Input) int
		wants     []int // counts that some representatives must have
	}{
		"findings": {
			"input.finding_count > 10", []string{"finding_count 1..9", "finding_count 10", "finding_count 11+"},
			func(in routing.Input) int { return in.FindingCount }, []int{0, 10, 11},
		},
		"routes": {
			"input.routes.executor > 3", []string{"routes.executor 1..2", "routes.executor 3", "routes.executor 4+"},
			func(in routing.Input) int { return in.Routes["executor"] }, []int{0, 1, 3, 4},
		},
		"stalls": {
			"input.stalled_rounds >= 5", []string{"stalled 1", "stalled 2", "stalled 3..4", "stalled 5", "stalled 6+"},
			func(in routing.Input) int { return in.StalledRounds }, []int{0, 1, 2, 3, 5, 6},
		},
		"rounds": {
			"input.round >= 2", []string{"round 1", "round 2", "round 3+"},
			func(in routing.Input) int { return in.Round }, []int{1, 2, 3},
		},
		"caps": {
			"input.max_rounds == 1", []string{"max_rounds 1", "max_rounds 2..100"},
			func(in routing.Input) int { return in.MaxRounds }, []int{1, 2},
		},
		"resolved": {
			"input.resolved_count == 4", []string{"resolved_count 1..3", "resolved_count 4", "resolved_count 5+"},
			func(in routing.Input) int { return in.ResolvedCount }, []int{0, 1, 4, 5},
		},
		"new": {
			"input.new_count < 3", []string{"new_count 1..2", "new_count 3", "new_count 4+"},
			func(in routing.Input) int { return in.NewCount }, []int{0, 1, 3, 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := changed(t, `input.stalled_rounds >= 2`, tc.condition)
			d := of(t, p)
			words, counts := make(map[string]bool), make(map[int]bool)
			for i := range d.Len() {
				in := d.At(i)
				counts[tc.counts(in)] = true
				cell := d.Class(in)
				words[cell.Progress] = true
				for _, number := range cell.Numbers {
					words[number] = true
				}
				if i%stride > 0 {
					continue
				}
				if _, err := p.Decide(t.Context(), in); err != nil {
					t.Fatalf("%+v: %v", in, err)
				}
			}
			for _, want := range tc.words {
				if !words[want] {
					t.Errorf("no class is %q", want)
				}
			}
			for _, want := range tc.wants {
				if !counts[want] {
					t.Errorf("no representative has %d", want)
				}
			}
		})
	}
}

// Two policies are compared over their common inputs, with the thresholds of both.
func TestADomainOfTwoPolicies(t *testing.T) {
	one := changed(t, `input.stalled_rounds >= 2`, `input.finding_count > 10`)
	// Without plan-checker; its findings go to the user.
	other := changed(t, `"askuser", "plan-checker"`, `"askuser"`,
		`"infrastructure-mismatch": "plan-checker"`, `"infrastructure-mismatch": "askuser"`,
		`"locked-decision-violation": "plan-checker"`, `"locked-decision-violation": "askuser"`,
		`input.stalled_rounds >= 2`, `input.resolved_count > 7`)
	d := of(t, one, other)
	if got, want := d.Destinations(), []string{"stuck", "askuser", "researcher", "executor"}; !slices.Equal(got, want) {
		t.Errorf("findings go to %v, want %v", got, want)
	}
	var found, resolved bool
	for _, in := range inputs(d) {
		found = found || in.FindingCount == 11
		resolved = resolved || in.ResolvedCount == 8
	}
	for i := 0; i < d.Len(); i += stride {
		in := d.At(i)
		for _, p := range []*routing.Policy{one, other} {
			if _, err := p.Decide(t.Context(), in); err != nil {
				t.Fatalf("%s: %+v: %v", p, in, err)
			}
		}
	}
	if !found || !resolved {
		t.Errorf("11 findings: %v, 8 resolved: %v; want both", found, resolved)
	}
}

func TestSizePrefersWhatIsSimpler(t *testing.T) {
	base := routing.Input{
		Round: 1, MaxRounds: 2, FindingCount: 2, Routes: map[string]int{"executor": 2}, Verify: routing.Green, NewCount: 2,
	}
	for name, change := range map[string]func(*routing.Input){
		"a later round":       func(in *routing.Input) { in.Round++ },
		"a higher cap":        func(in *routing.Input) { in.MaxRounds++ },
		"another finding":     func(in *routing.Input) { in.FindingCount++ },
		"more destinations":   func(in *routing.Input) { in.Routes = map[string]int{"executor": 1, "askuser": 1} },
		"more kinds":          func(in *routing.Input) { in.NewCount, in.RepeatCount = 1, 1 },
		"something resolved":  func(in *routing.Input) { in.ResolvedCount = 1 },
		"a stall":             func(in *routing.Input) { in.StalledRounds = 1 },
		"a red verification":  func(in *routing.Input) { in.Verify = routing.Red },
		"a number beyond all": func(in *routing.Input) { in.Round, in.MaxRounds, in.FindingCount = 1<<62, 1<<62, 1<<62 },
	} {
		in := base
		change(&in)
		if inputspace.Size(in) <= inputspace.Size(base) {
			t.Errorf("%s: %+v is no larger than %+v", name, in, base)
		}
	}
}

// inputs returns the representatives of all classes.
func inputs(d *inputspace.Domain) []routing.Input {
	all := make([]routing.Input, d.Len())
	for i := range all {
		all[i] = d.At(i)
	}
	return all
}

// words formats a class without its numbers.
func words(c inputspace.Class) string {
	return fmt.Sprintf("%v %s %s %s", c.Present, c.Cap, c.Verify, c.Progress)
}

func load(t *testing.T, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func of(t *testing.T, ps ...*routing.Policy) *inputspace.Domain {
	t.Helper()
	d, err := inputspace.Of(routing.DecisionRule, ps...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// changed is routing 1.2.0 with texts replaced, each of which must occur once.
func changed(t *testing.T, oldnew ...string) *routing.Policy {
	t.Helper()
	source, err := os.ReadFile("../../../policies/routing/1.2.0/routing.rego")
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for pair := range slices.Chunk(oldnew, 2) {
		if n := strings.Count(text, pair[0]); n != 1 {
			t.Fatalf("%q is there %d times", pair[0], n)
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "routing.rego"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}
