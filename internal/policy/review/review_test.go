package review_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/review"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// load returns a policy with this rule bar, or without one for "".
func load(t *testing.T, bar string) *routing.Policy {
	t.Helper()
	dir := t.TempDir()
	rego := `# METADATA
# title: A test
# custom:
#   version: 3.1.4
#   adr: ADR-0100
package switchyard.routing

destinations := {
	"archive": {"kind": "terminal", "advances_round": false},
	"commit": {"kind": "terminal", "advances_round": false},
	"counsel": {"kind": "human", "advances_round": true},
	"fixer": {"kind": "agent", "advances_round": true},
	"stuck": {"kind": "terminal", "advances_round": false},
}

route_table := {"dead-code": "archive", "question-to-user": "counsel", "stuck-detected": "stuck", "style": "fixer"}

precedence := ["stuck", "archive", "counsel", "fixer"]

# METADATA
# entrypoint: true
decision := {"next_action": "fixer", "reason": "verify-red"} if {
	input.verify == "red"
} else := {"next_action": "fixer", "reason": "routed"} if {
	input.finding_count > 0
} else := {"next_action": "commit", "reason": "no-findings"}
`
	if bar != "" {
		rego += "\n# METADATA\n# entrypoint: true\n" + bar + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "routing.rego"), []byte(rego), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// constants returns a policy for each bar, and one without for "".
func constants(t *testing.T) map[routing.Bar]*routing.Policy {
	all := map[routing.Bar]*routing.Policy{"": load(t, "")}
	for _, bar := range routing.Bars() {
		all[bar] = load(t, fmt.Sprintf("bar := %q", bar))
	}
	return all
}

// draw draws a review after some earlier ones.
func draw(t *rapid.T) review.Review {
	r := review.Review{
		State:   task.State{Reviews: 2, Stalled: rapid.IntRange(0, 2).Draw(t, "stalled"), SinceLow: rapid.IntRange(0, 2).Draw(t, "since low"), Bar: rapid.SampledFrom([]string{"", "risk", "fail"}).Draw(t, "latched")},
		Round:   rapid.IntRange(1, 8).Draw(t, "round"),
		Verify:  rapid.SampledFrom([]routing.Verify{routing.Green, routing.Red, routing.Absent}).Draw(t, "verify"),
		Settled: rapid.Bool().Draw(t, "settled"),
	}
	r.State.FewestFirstTime, r.State.Remaining = rapid.IntRange(1, 3).Draw(t, "low"), rapid.IntRange(0, 5).Draw(t, "open before")
	r.MaxRounds = rapid.IntRange(1, 8).Draw(t, "max_rounds")
	r.HardCap = rapid.IntRange(r.MaxRounds, 16).Draw(t, "hard_cap")
	pasts := []task.Trace{{}, {First: 1, Since: 1, Last: 1}, {First: 1, Since: 1, Last: 2}, {First: 1, Since: 1, Last: 2, Deferred: true}}
	open := r.State.Remaining
	for range rapid.IntRange(0, 5).Draw(t, "findings") {
		f := review.Finding{
			Severity: rapid.SampledFrom([]finding.Severity{finding.Fail, finding.Risk, finding.Nit, "", "NIT", "trivial"}).Draw(t, "severity"),
			Route:    rapid.SampledFrom([]string{"fixer", "fixer", "fixer", "counsel", "archive", "stuck"}).Draw(t, "route"),
		}
		f.Past = rapid.SampledFrom(pasts).Draw(t, "past")
		if f.Past == pasts[2] {
			if open--; open < 0 {
				f.Past = task.Trace{}
			}
		}
		f.Status = r.State.Compare(f.Past)
		f.Blocking = rapid.IntRange(0, 4).Draw(t, "audit") == 0
		if known := rapid.Bool().Draw(t, "known"); known {
			f.Induced = new(rapid.Bool().Draw(t, "induced"))
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// TestDecide checks the contract for reviews under each bar: findings of severity fail or
// unknown, from the audit, or for a destination other than an agent are never deferred; the
// bar is never lower than in earlier reviews; and the rule bar sees all findings, but the
// decision only the open ones.
func TestDecide(t *testing.T) {
	all := constants(t)
	rapid.Check(t, func(t *rapid.T) {
		r := draw(t)
		given := slices.Clone(r.Findings)
		for _, bar := range []routing.Bar{"", routing.BarAll, routing.BarRisk, routing.BarFail} {
			r.Findings = slices.Clone(given)
			got, err := r.Decide(t.Context(), all[bar])
			if err != nil {
				t.Fatalf("bar %q of %+v: %v", bar, r, err)
			}
			effective := bar
			if bar != "" && barRank(r.State.Bar) > barRank(string(bar)) {
				effective = routing.Bar(r.State.Bar)
			}
			if got.PolicyBar != bar || got.Bar != effective {
				t.Fatalf("bars %q and %q, want %q and %q", got.PolicyBar, got.Bar, bar, effective)
			}
			open, deferred, blocking := []review.Finding{}, 0, 0
			routes := make(map[string]int)
			for i, f := range r.Findings {
				mayDefer := !given[i].Blocking && f.Route == "fixer" && (f.Severity == finding.Risk || f.Severity == finding.Nit)
				below := f.Severity == finding.Nit && barRank(string(effective)) >= 1 || f.Severity == finding.Risk && effective == routing.BarFail
				if f.Deferred != (mayDefer && below) || f.Blocking == mayDefer {
					t.Fatalf("bar %q: %+v is deferred: %t", effective, given[i], f.Deferred)
				}
				if f.Blocking {
					blocking++
				}
				if f.Deferred {
					deferred++
					continue
				}
				open = append(open, f)
				routes[f.Route]++
			}
			in := got.Input
			if in.FindingCount != len(open) || !reflect.DeepEqual(in.Routes, routes) || in.NewCount+in.RepeatCount+in.ReopenedCount != len(open) {
				t.Fatalf("%d open findings by %v: %+v", len(open), routes, in)
			}
			if bar == "" {
				if got.BarInput != nil || in.Facts != nil {
					t.Fatalf("a policy without a bar sees facts: %+v", got)
				}
				continue
			}
			asked := *got.BarInput
			if asked.FindingCount != len(given) || asked.DeferredCount != 0 || in.DeferredCount != deferred || in.BlockingCount != blocking {
				t.Fatalf("%d findings, %d deferred, %d blocking: %+v, then %+v", len(given), deferred, blocking, asked.Facts, in.Facts)
			}
			// The facts are the same for both rules.
			same := *in.Facts
			same.DeferredCount, same.MayExtend = 0, asked.MayExtend
			if !reflect.DeepEqual(same, *asked.Facts) {
				t.Fatalf("the facts are %+v, then %+v", asked.Facts, in.Facts)
			}
			repeats := slices.ContainsFunc(open, func(f review.Finding) bool { return f.Past.Last > 0 })
			left := max(r.HardCap-r.Round, 0)
			if want := r.Settled && left > 0 && r.Verify != routing.Red && in.ResolvedCount > 0 && !repeats; in.MayExtend != want || in.RoundsLeft != left || in.HardCap != r.HardCap {
				t.Fatalf("%+v may extend: %t with %d rounds left", r, in.MayExtend, in.RoundsLeft)
			}
			if got.Decision.NextAction == routing.Commit && len(open) > 0 {
				t.Fatalf("it commits with %+v", open)
			}
		}
	})
}

// barRank orders bars.
func barRank(bar string) int { return slices.Index([]string{"all", "risk", "fail"}, max(bar, "all")) }

// TestDecideReadsTheTrend checks that a policy sees how reviews of a task follow each
// other, and that a bar that it raised stays.
func TestDecideReadsTheTrend(t *testing.T) {
	p := load(t, `bar := "fail" if {
	input.reviews_since_low >= 2
	not input.induced_count
} else := "risk" if {
	input.induced_rounds >= 2
} else := "all"`)
	s := task.State{}
	next := func(count int, severity finding.Severity, induced *bool) review.Result {
		t.Helper()
		r := review.Review{State: s, Round: s.Reviews + 1, MaxRounds: 20, HardCap: 40, Verify: routing.Absent}
		for range count {
			r.Findings = append(r.Findings, review.Finding{Severity: severity, Route: "fixer", Reviewed: task.Reviewed{Status: task.New, Induced: induced}})
		}
		got, err := r.Decide(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		s = s.AfterReview(got.Input.FindingCount, r.Progress())
		if s.Bar = string(got.Bar); got.Bar == routing.BarAll {
			s.Bar = ""
		}
		return got
	}
	for i, c := range []struct {
		count        int
		severity     finding.Severity
		induced      *bool
		own, bar     routing.Bar
		sinceLow     int
		inducedRound int
		deferred     int
	}{
		{2, finding.Fail, nil, "all", "all", 0, 0, 0},
		{2, finding.Fail, new(true), "all", "all", 0, 1, 0},
		{3, finding.Fail, new(true), "risk", "risk", 1, 2, 0},
		{1, finding.Nit, new(true), "all", "risk", 0, 0, 1}, // Nits are not blocking.
		{2, finding.Risk, nil, "all", "risk", 1, 0, 0},
		{2, finding.Risk, nil, "fail", "fail", 2, 0, 2},
		{1, finding.Risk, new(false), "all", "fail", 0, 0, 1},
	} {
		got := next(c.count, c.severity, c.induced)
		in := got.Input
		if got.PolicyBar != c.own || got.Bar != c.bar || in.ReviewsSinceLow != c.sinceLow || in.InducedRounds != c.inducedRound || in.DeferredCount != c.deferred {
			t.Errorf("review %d: bars %q, %q; %+v", i+1, got.PolicyBar, got.Bar, *in.Facts)
		}
		if got.Decision.NextAction == routing.Commit != (c.deferred == c.count) {
			t.Errorf("review %d: it goes to %s", i+1, got.Decision.NextAction)
		}
	}
}

// TestDecideFails checks that there is no decision without a valid bar.
func TestDecideFails(t *testing.T) {
	for bar, want := range map[string]errs.Code{
		`bar := lower("FAILED")`:           errs.PolicyInvalidBar,
		`bar := "risk" if input.round > 1`: errs.PolicyUndefined,
	} {
		r := review.Review{Round: 1, MaxRounds: 3, HardCap: 6, Verify: routing.Absent}
		got, err := r.Decide(t.Context(), load(t, bar))
		if errs.CodeOf(err) != want || got.Decision.NextAction != "" || got.Bar != "" || got.Input.Facts == nil {
			t.Errorf("%s: got %+v, %v", bar, got, err)
		}
	}
}
