package inputspace

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func TestSpansInWords(t *testing.T) {
	for want, s := range map[string]span{"0": {0, 0}, "7": {7, 7}, "3..5": {3, 5}, "3+": {3, unbounded}} {
		if got := s.String(); got != want {
			t.Errorf("%#v reads %q, want %q", s, got, want)
		}
	}
}

func TestSplitKeepsEveryNumberOnce(t *testing.T) {
	for _, tc := range []struct {
		s       span
		numbers []int
		want    string
	}{
		{span{0, unbounded}, nil, "[0+]"},
		{span{0, unbounded}, []int{0}, "[0 1+]"},
		{span{0, unbounded}, []int{2, 0, 2}, "[0 1 2 3+]"},
		{span{0, unbounded}, []int{10, 0}, "[0 1..9 10 11+]"},
		{span{0, unbounded}, []int{-1, unbounded + 1}, "[0+]"},
		{span{1, 100}, []int{0, 100, 101}, "[1..99 100]"},
		{span{1, 100}, []int{1}, "[1 2..100]"},
	} {
		if got := fmt.Sprint(tc.s.split(tc.numbers)); got != tc.want {
			t.Errorf("%v split at %v is %s, want %s", tc.s, tc.numbers, got, tc.want)
		}
	}
}

// Each comparison with a number has the same result for a whole span.
func TestComparisonsAreTheSameForAWholeSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.IntRange(-2, 40)).Draw(t, "numbers")
		parts := span{0, 30}.split(numbers)
		next := 0
		for _, part := range parts {
			if part.lo != next || part.empty() {
				t.Fatalf("%v: %v does not begin at %d", parts, part, next)
			}
			next = part.hi + 1
			for _, n := range numbers {
				if part.lo < n != (part.hi < n) || part.lo > n != (part.hi > n) {
					t.Errorf("%v tells apart where numbers stand to %d", part, n)
				}
			}
		}
		if next != 31 {
			t.Errorf("%v ends before 30", parts)
		}
	})
}

// names are the destinations for drawn domains.
var names = []string{"stuck", "human", "agent"}

// fields are those that a policy can compare with numbers.
var fields = []string{
	"routes", "routes.agent", "finding_count", "new_count", "repeat_count", "reopened_count", "resolved_count", "stalled_rounds", "round", "max_rounds",
}

// anyDomain draws a domain with thresholds on a few fields, small enough to be enumerated.
func anyDomain(t *rapid.T) *Domain {
	thresholds := rapid.MapOfN(rapid.SampledFrom(fields), rapid.SliceOfN(rapid.IntRange(0, 6), 1, 2), 0, 3).Draw(t, "thresholds")
	d, err := of(names[:rapid.IntRange(1, len(names)).Draw(t, "destinations")], uses{thresholds: thresholds})
	if errs.CodeOf(err) == errs.PolicyDomainTooLarge {
		t.Skip(err) // rapid draws another one.
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// anyInput draws a consistent input, independent of the domain.
func anyInput(t *rapid.T, destinations []string) routing.Input {
	in := routing.Input{
		Round:     rapid.IntRange(1, 9).Draw(t, "round"),
		MaxRounds: rapid.IntRange(1, 9).Draw(t, "max_rounds"),
		Verify:    rapid.SampledFrom([]routing.Verify{routing.Green, routing.Red, routing.Absent}).Draw(t, "verify"),
		Routes:    rapid.MapOf(rapid.SampledFrom(destinations), rapid.IntRange(0, 8)).Draw(t, "routes"),
	}
	for _, n := range in.Routes {
		in.FindingCount += n
	}
	in.RepeatCount = rapid.IntRange(0, in.FindingCount).Draw(t, "repeat_count")
	in.ReopenedCount = rapid.IntRange(0, in.FindingCount-in.RepeatCount).Draw(t, "reopened_count")
	in.NewCount = in.FindingCount - in.RepeatCount - in.ReopenedCount
	in.ResolvedCount = rapid.IntRange(0, 8).Draw(t, "resolved_count")
	if in.NoProgress = in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0; in.NoProgress {
		in.StalledRounds = rapid.IntRange(1, 9).Draw(t, "stalled_rounds")
	}
	return in
}

// agrees reports whether an input is consistent, as ADR-0001 and ADR-0003 require.
func agrees(in routing.Input) bool {
	sum := 0
	for _, n := range in.Routes {
		if n < 0 {
			return false
		}
		sum += n
	}
	stalls := in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0
	return in.Round >= 1 && in.MaxRounds >= 1 && in.MaxRounds <= routing.MaxRoundsLimit &&
		sum == in.FindingCount && in.NewCount+in.RepeatCount+in.ReopenedCount == in.FindingCount &&
		min(in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount, in.StalledRounds) >= 0 &&
		in.NoProgress == stalls && in.NoProgress == (in.StalledRounds > 0)
}

func key(c Class) string { return fmt.Sprintf("%q", c) }

// For all thresholds, every possible input is in one class, whose representative is not
// larger.
func TestEveryInputHasAClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDomain(t)
		classes, keys := make(map[string]int, d.Len()), make(map[string]int, d.Len())
		for i := range d.Len() {
			keys[string(d.AppendKey(nil, d.At(i)))] = i
			cell := key(d.Class(d.At(i)))
			if other, twice := classes[cell]; twice {
				t.Fatalf("classes %d and %d are both %s", other, i, cell)
			}
			classes[cell] = i
		}
		for range 50 {
			in := anyInput(t, d.destinations)
			cell := key(d.Class(in))
			i, ok := classes[cell]
			if !ok {
				t.Fatalf("%+v is %s, and in no class", in, cell)
			}
			if k, ok := keys[string(d.AppendKey(nil, in))]; !ok || k != i {
				t.Fatalf("%+v has the key of class %d, and is in class %d", in, k, i)
			}
			if at := d.At(i); Size(at) > Size(in) {
				t.Errorf("%+v stands for %+v, which is simpler", at, in)
			}
		}
	})
}

// For all thresholds, representatives and samples are consistent and in their class.
func TestProbesAreOfTheirClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDomain(t)
		for range 50 {
			i := rapid.IntRange(0, d.Len()-1).Draw(t, "class")
			at, probe := d.At(i), d.Sample(i, rapid.Uint64().Draw(t, "seed"))
			if !agrees(at) || !agrees(probe) {
				t.Fatalf("class %d contradicts itself: %+v, %+v", i, at, probe)
			}
			if a, b := key(d.Class(at)), key(d.Class(probe)); a != b {
				t.Errorf("%+v of %s is a probe of %s", probe, b, a)
			}
			if !bytes.Equal(d.AppendKey(nil, at), d.AppendKey(nil, probe)) {
				t.Errorf("%+v has another key than its class", probe)
			}
		}
	})
}

// Very large thresholds work: nothing overflows, and impossible classes are omitted.
func TestThresholdsThatNothingReaches(t *testing.T) {
	const far = 1 << 62
	plain, err := of(names, uses{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"routes", "finding_count", "new_count", "resolved_count", "round", "max_rounds"} {
		d, err := of(names, uses{thresholds: map[string][]int{field: {far, -far, unbounded + 1}}})
		if err != nil {
			t.Fatal(err)
		}
		if d.Len() != plain.Len() {
			t.Errorf("%s: %d classes, but %d without thresholds", field, d.Len(), plain.Len())
		}
	}
	d, err := of(names, uses{thresholds: map[string][]int{"routes": {unbounded - 1}, "finding_count": {unbounded - 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Len() {
		if at, probe := d.At(i), d.Sample(i, 1); !agrees(at) || !agrees(probe) {
			t.Fatalf("class %d contradicts itself: %+v, %+v", i, at, probe)
		}
	}
}

func TestTooLargeDomainsAreRefusedAtOnce(t *testing.T) {
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprint("d", i))
	}
	var every []int
	for n := range 2000 {
		every = append(every, n)
	}
	far := make([]int, 60) // contradicts finding_count in most combinations
	for i := range far {
		far[i] = 1_000_000 + 2*i
	}
	for name, tc := range map[string]struct {
		destinations []string
		thresholds   map[string][]int
	}{
		"destinations":   {many, nil},
		"18":             {many[:18], nil},
		"routes":         {names, map[string][]int{"routes": every}},
		"findings":       {names, map[string][]int{"finding_count": every, "resolved_count": every}},
		"rounds":         {names, map[string][]int{"round": every, "max_rounds": every}},
		"contradictions": {names, map[string][]int{"routes": far[:10], "new_count": far, "repeat_count": far, "reopened_count": far}},
	} {
		_, err := of(tc.destinations, uses{thresholds: tc.thresholds})
		f, ok := err.(*errs.Error)
		if !ok || f.Code != errs.PolicyDomainTooLarge {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if want := []string{"destinations", "limit", "thresholds"}; !slices.Equal(slices.Sorted(maps.Keys(f.Details)), want) {
			t.Errorf("%s: the details are %v, want %v", name, f.Details, want)
		}
	}
}
