package routing_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// Versions before ADR-0003 ignore the past.
func TestEarlierVersionsDoNotSeeThePast(t *testing.T) {
	for _, ref := range []string{"routing@1.0.0", "routing@1.1.0"} {
		p := load(t, ref)
		rapid.Check(t, func(t *rapid.T) {
			in := anyInput(t)
			sameDecision(t, p, in, p, withPast(in, routing.Input{NewCount: in.FindingCount}))
		})
	}
}

// The branch added in 1.2.0 is the only difference.
func TestOnlyAStalledTaskIsDecidedDifferentlyThanBefore(t *testing.T) {
	before, now := load(t, "routing@1.1.0"), load(t, "routing@1.2.0")
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		if in.StalledRounds < 2 || in.Routes["askuser"] > 0 {
			sameDecision(t, now, in, before, in)
		}
	})
}

func sameDecision(t *rapid.T, p *routing.Policy, in routing.Input, other *routing.Policy, otherIn routing.Input) {
	t.Helper()
	got, err := p.Decide(t.Context(), in)
	if err != nil {
		t.Fatalf("%s: %+v: %v", p, in, err)
	}
	want, err := other.Decide(t.Context(), otherIn)
	if err != nil {
		t.Fatalf("%s: %+v: %v", other, otherIn, err)
	}
	if got != want {
		t.Errorf("%s: %+v: got %+v, but %s over %+v: %+v", p, in, got, other, otherIn, want)
	}
}

// A story is a task's reviews, each with the names of its findings; a finding called ask
// goes to the user, all others to the executor.
func TestStoriesOfReviews(t *testing.T) {
	for name, tc := range map[string]struct {
		reviews []string
		want    string // the last review's reason; every earlier review must be routed
	}{
		"two reviews without progress": {[]string{"a b", "a b", "b a"}, "no-progress"},
		"one review without progress":  {[]string{"a", "a"}, "routed"},
		"the first review of a task":   {[]string{"a b c"}, "routed"},
		"progress, then none":          {[]string{"a b c", "b c", "c", "c", "c"}, "no-progress"},
		"a new finding is a change":    {[]string{"a", "a", "a b", "a b"}, "routed"},
		"one is resolved in time":      {[]string{"a b", "a b", "a"}, "routed"},
		"one for another":              {[]string{"a b", "a b", "a c"}, "routed"},
		"to and fro":                   {[]string{"a", "b", "a", "b", "a", "b"}, "routed"},
		"the user is asked all along":  {[]string{"ask a", "ask a", "ask a", "ask a"}, "routed"},
		"the question is settled":      {[]string{"ask a", "ask a", "ask a", "a"}, "routed"},
		"the question comes too late":  {[]string{"a", "a", "ask a", "ask a", "ask a"}, "routed"},
		"it ends well after all":       {[]string{"a", "a", ""}, "no-findings"},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, policies.Default)
			inputs := retell(tc.reviews)
			for i, in := range inputs {
				got, err := p.Decide(t.Context(), in)
				if err != nil {
					t.Fatalf("review %d: %+v: %v", i+1, in, err)
				}
				want := "routed"
				if i == len(inputs)-1 {
					want = tc.want
				}
				if got.Reason != want {
					t.Errorf("review %d: %+v: reason is %s, want %s", i+1, in, got.Reason, want)
				}
			}
		})
	}
}

// retell turns reviews into inputs, one round each, far below the cap.
func retell(reviews []string) []routing.Input {
	var inputs []routing.Input
	ever := make(map[string]bool)
	var previous []string
	stalled := 0
	for i, review := range reviews {
		findings := strings.Fields(review)
		in := routing.Input{Round: i + 1, MaxRounds: 50, FindingCount: len(findings), Routes: make(map[string]int), Verify: routing.Green}
		for _, f := range findings {
			switch {
			case slices.Contains(previous, f):
				in.RepeatCount++
			case ever[f]:
				in.ReopenedCount++
			default:
				in.NewCount++
			}
			if f == "ask" {
				in.Routes["askuser"]++
			} else {
				in.Routes["executor"]++
			}
			ever[f] = true
		}
		for _, f := range previous {
			if !slices.Contains(findings, f) {
				in.ResolvedCount++
			}
		}
		if len(findings) > 0 && in.NewCount+in.ReopenedCount+in.ResolvedCount == 0 {
			stalled++
		} else {
			stalled = 0
		}
		in.NoProgress, in.StalledRounds = stalled > 0, stalled
		inputs = append(inputs, in)
		previous = findings
	}
	return inputs
}

// A past that contradicts itself or the findings never reaches a policy of any version:
// neither a later rule nor a replay may rely on it.
func TestDecideRefusesAPastThatContradictsItself(t *testing.T) {
	mixed := routing.Input{NewCount: 1, RepeatCount: 1, ReopenedCount: 1, ResolvedCount: 1}
	stalled := routing.Input{RepeatCount: 3, NoProgress: true, StalledRounds: 1}
	for name, tc := range map[string]struct {
		past   routing.Input
		change func(*routing.Input)
		field  string
	}{
		"one uncounted":     {mixed, func(in *routing.Input) { in.NewCount = 0 }, "new_count"},
		"none counted":      {mixed, func(in *routing.Input) { *in = withPast(*in, routing.Input{}) }, "new_count"},
		"one too many":      {mixed, func(in *routing.Input) { in.RepeatCount = 2 }, "reopened_count"},
		"negative new":      {mixed, func(in *routing.Input) { in.NewCount, in.RepeatCount = -1, 3 }, "new_count"},
		"negative repeat":   {mixed, func(in *routing.Input) { in.NewCount, in.RepeatCount = 3, -1 }, "repeat_count"},
		"negative reopened": {mixed, func(in *routing.Input) { in.NewCount, in.ReopenedCount = 2, -1 }, "reopened_count"},
		"negative resolved": {mixed, func(in *routing.Input) { in.ResolvedCount = -1 }, "resolved_count"},
		// An int sum of these would overflow to 3.
		"a sum that overflows":   {mixed, func(in *routing.Input) { in.NewCount, in.RepeatCount, in.ReopenedCount = math.MaxInt, math.MaxInt, 5 }, "new_count"},
		"no_progress with news":  {mixed, func(in *routing.Input) { in.NoProgress, in.StalledRounds = true, 1 }, "no_progress"},
		"stalled with news":      {mixed, func(in *routing.Input) { in.StalledRounds = 1 }, "stalled_rounds"},
		"no_progress denied":     {stalled, func(in *routing.Input) { in.NoProgress, in.StalledRounds = false, 0 }, "no_progress"},
		"stalled, but resolved":  {stalled, func(in *routing.Input) { in.ResolvedCount = 1 }, "no_progress"},
		"stalled for no round":   {stalled, func(in *routing.Input) { in.StalledRounds = 0 }, "stalled_rounds"},
		"stalled for -1 rounds":  {stalled, func(in *routing.Input) { in.StalledRounds = -1 }, "stalled_rounds"},
		"stalled without review": {stalled, func(in *routing.Input) { in.FindingCount, in.RepeatCount, in.Routes = 0, 0, nil }, "no_progress"},
	} {
		t.Run(name, func(t *testing.T) {
			in := withPast(input(1, 3, routing.Green, map[string]int{"executor": 3}), tc.past)
			tc.change(&in)
			for _, ref := range policies.Versions() {
				d, err := load(t, ref).Decide(t.Context(), in)
				f := wantCode(t, err, errs.PolicyInvalidInput)
				if got := f.Details["field"]; got != tc.field {
					t.Errorf("%s: %v: the field to blame is %v, want %s", ref, err, got, tc.field)
				}
				if d != (routing.Decision{}) {
					t.Errorf("%s: a decision came with the error: %+v", ref, d)
				}
			}
		})
	}
}

// A small past is accepted if and only if its fields agree.
func TestPastsAreAcceptedExactlyWhereTheyAgree(t *testing.T) {
	p := load(t, policies.Default)
	accepted := 0
	for findings := range 3 {
		base := input(1, 9, routing.Red, map[string]int{"executor": findings})
		for past := range smallPasts {
			in := withPast(base, past)
			agrees := in.NewCount >= 0 && in.RepeatCount >= 0 && in.ReopenedCount >= 0 && in.ResolvedCount >= 0 &&
				in.NewCount+in.RepeatCount+in.ReopenedCount == findings
			if in.NoProgress {
				agrees = agrees && findings > 0 && in.RepeatCount == findings && in.ResolvedCount == 0 && in.StalledRounds >= 1
			} else {
				agrees = agrees && (findings == 0 || in.RepeatCount < findings || in.ResolvedCount > 0) && in.StalledRounds == 0
			}
			_, err := p.Decide(t.Context(), in)
			switch {
			case agrees && err != nil:
				t.Errorf("%+v: %v", in, err)
			case !agrees:
				wantCode(t, err, errs.PolicyInvalidInput)
			default:
				accepted++
			}
		}
	}
	// Without findings there are 2 pasts: nothing resolved, or one. With one finding, 3
	// kinds of finding times these 2, and the repeat that resolves nothing is stalled for
	// 1 or 2 rounds: 7. With two findings there are 6 mixes of the kinds: likewise 13.
	if want := 2 + 7 + 13; accepted != want {
		t.Errorf("%d pasts are accepted, want %d", accepted, want)
	}
}

// smallPasts yields every past whose numbers are from -1 to 2, and to 1 for resolved
// findings.
func smallPasts(yield func(routing.Input) bool) {
	for i := range 4 * 4 * 4 * 3 * 2 * 4 {
		rest := i
		next := func(base int) int {
			digit := rest % base
			rest /= base
			return digit
		}
		past := routing.Input{
			NewCount: next(4) - 1, RepeatCount: next(4) - 1, ReopenedCount: next(4) - 1, ResolvedCount: next(3) - 1,
			NoProgress: next(2) == 1, StalledRounds: next(4) - 1,
		}
		if !yield(past) {
			return
		}
	}
}

// A custom policy sees the whole past under these names.
func TestPoliciesSeeThePast(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "stuck", "reason": sprintf("n%d-r%d-o%d-x%d-s%d", [
	input.new_count, input.repeat_count, input.reopened_count, input.resolved_count, input.stalled_rounds,
])} if not input.no_progress
decision := {"next_action": "stuck", "reason": sprintf("stalled-%d-%d", [input.repeat_count, input.stalled_rounds])} if input.no_progress`)
	in := input(1, 3, routing.Green, map[string]int{"fixer": 6})
	for want, past := range map[string]routing.Input{
		"n1-r2-o3-x4-s0": {NewCount: 1, RepeatCount: 2, ReopenedCount: 3, ResolvedCount: 4},
		"stalled-6-5":    {RepeatCount: 6, NoProgress: true, StalledRounds: 5},
	} {
		if got, err := p.Decide(t.Context(), withPast(in, past)); err != nil || got.Reason != want {
			t.Errorf("%+v: got %+v, %v, want the reason %s", past, got, err, want)
		}
	}
}
