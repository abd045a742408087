package replay_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

func load(t testing.TB, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// amended is routing 1.2.0 with each of the texts in pairs replaced by the next.
func amended(t testing.TB, pairs ...string) *routing.Policy {
	t.Helper()
	sources := load(t, "routing@1.2.0").Sources()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(sources[0].Text, pairs[i]) {
			t.Fatalf("routing 1.2.0 does not say %s", pairs[i])
		}
		sources[0].Text = strings.Replace(sources[0].Text, pairs[i], pairs[i+1], 1)
	}
	p, err := routing.Loader{}.FromSources(t.Context(), "amended", sources)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// history creates recorded rounds as the host does.
type history struct {
	t       rapid.TB
	policy  *routing.Policy
	decided []replay.Recorded
}

// decide records a round with new findings of these categories; in provides the other
// fields.
func (h *history) decide(in routing.Input, findings map[string]int) {
	h.t.Helper()
	in.Routes = map[string]int{}
	r := replay.Recorded{Policy: h.policy.Identity()}
	for _, name := range slices.Sorted(maps.Keys(findings)) {
		to, known := h.policy.Route(name)
		in.Routes[to] += findings[name]
		in.FindingCount += findings[name]
		r.Categories = append(r.Categories, replay.Category{Name: name, Route: to, Unknown: !known, Count: findings[name]})
	}
	if !in.NoProgress {
		in.NewCount = in.FindingCount
	} else {
		in.RepeatCount = in.FindingCount
	}
	d, err := h.policy.Decide(context.Background(), in)
	if err != nil {
		h.t.Fatal(err)
	}
	n := int64(len(h.decided)) + 1
	// Other events are recorded in between, and each task has three decisions.
	r.Seq, r.N, r.Task = 3*n, (n-1)%3+1, fmt.Sprintf("T-%d", (n-1)/3+1)
	r.Round, r.Input, r.Decision, r.At = in.Round, in, d, "2026-11-21T12:00:00.000000000Z"
	h.decided = append(h.decided, r)
}

// once is a green round within its cap.
var once = routing.Input{Round: 1, MaxRounds: 3, Verify: routing.Green}

func replayed(t rapid.TB, candidate *routing.Policy, rounds []replay.Recorded, o replay.Options) replay.Report {
	t.Helper()
	y := replay.New(candidate, o)
	for _, r := range rounds {
		if err := y.Add(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	return y.Report()
}

// drawn returns random rounds decided by a policy.
func drawn(t *rapid.T, p *routing.Policy) []replay.Recorded {
	h := history{t: t, policy: p}
	names := append(slices.Sorted(maps.Keys(p.RouteTable())), "made-up")
	category := rapid.SampledFrom(names)
	for range rapid.IntRange(0, 20).Draw(t, "rounds") {
		in := routing.Input{
			Round:     rapid.IntRange(1, 4).Draw(t, "round"),
			MaxRounds: rapid.IntRange(1, 4).Draw(t, "max_rounds"),
			Verify:    rapid.SampledFrom([]routing.Verify{routing.Green, routing.Red, routing.Absent}).Draw(t, "verify"),
		}
		findings := rapid.MapOfN(category, rapid.IntRange(1, 3), 0, 4).Draw(t, "findings")
		if len(findings) > 0 && rapid.Bool().Draw(t, "stalled") {
			in.NoProgress, in.StalledRounds = true, rapid.IntRange(1, 3).Draw(t, "stalled_rounds")
		} else {
			in.ResolvedCount = rapid.IntRange(0, 2).Draw(t, "resolved_count")
		}
		h.decide(in, findings)
	}
	return h.decided
}

// TestTheRecordedPolicyFlipsNothing checks that the same policy makes the same decisions
// again.
func TestTheRecordedPolicyFlipsNothing(t *testing.T) {
	versions := policies.Versions()
	if len(versions) == 0 {
		t.Fatal("there are no versions")
	}
	for _, ref := range versions {
		p := load(t, ref)
		if p.HasBar() {
			continue // see TestAPolicyWithABarDecidesAgainAsRecorded
		}
		rapid.Check(t, func(t *rapid.T) {
			rounds := drawn(t, p)
			report := replayed(t, p, rounds, replay.Options{})
			if report.ChangedCount() != 0 || len(report.Changed) != 0 || len(report.Reasons) != 0 {
				t.Fatalf("%s flips its own decisions: %+v", ref, report)
			}
			if report.Decisions != int64(len(rounds)) || report.Through != 3*int64(len(rounds)) {
				t.Fatalf("%d decisions through %d, want %d through %d", report.Decisions, report.Through, len(rounds), 3*len(rounds))
			}
			if len(rounds) > 0 && !slices.Equal(report.Policies, []replay.Used{{Policy: p.Identity(), Decisions: int64(len(rounds))}}) {
				t.Fatalf("decided by %+v", report.Policies)
			}
		})
	}
}

// goes returns the next action of routing 1.2.0 for a round whose findings follow table.
// It is written from ADR-0001 and ADR-0003 and shares nothing with the Rego.
func goes(r replay.Recorded, table func(category string) string) string {
	has := map[string]bool{}
	for _, c := range r.Categories {
		has[table(c.Name)] = true
	}
	switch red := r.Input.Verify == routing.Red; {
	case len(has) == 0 && !red:
		return "commit"
	case has["stuck"], r.Input.Round >= r.Input.MaxRounds, r.Input.StalledRounds > 1 && !has["askuser"]:
		return "stuck"
	case has["askuser"]:
		return "askuser"
	case has["plan-checker"]:
		return "plan-checker"
	case has["researcher"]:
		return "researcher"
	default:
		return "executor"
	}
}

// TestAReroutedCategoryFlipsWhatItShould compares with an independent count of the
// rounds.
func TestAReroutedCategoryFlipsWhatItShould(t *testing.T) {
	p := load(t, "routing@1.2.0")
	amendments := []struct {
		name      string
		candidate *routing.Policy
		table     func(category, before string) string
	}{
		{"rerouted", amended(t, `"style": "executor"`, `"style": "researcher"`), func(c, before string) string {
			if c == "style" {
				return "researcher"
			}
			return before
		}},
		{"new", amended(t, `"weak-assertion": "executor",`, `"weak-assertion": "executor", "made-up": "plan-checker",`), func(c, before string) string {
			if c == "made-up" {
				return "plan-checker"
			}
			return before
		}},
		{"gone", amended(t, `"missing-test": "executor",`, ``), func(c, before string) string {
			if c == "missing-test" {
				return "stuck"
			}
			return before
		}},
	}
	for _, a := range amendments {
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rounds := drawn(t, p)
				report := replayed(t, a.candidate, rounds, replay.Options{})
				want := map[[2]string]int64{}
				var flips []int64
				for _, r := range rounds {
					before := func(c string) string { to, _ := p.Route(c); return to }
					from, to := goes(r, before), goes(r, func(c string) string { return a.table(c, before(c)) })
					if from != r.Decision.NextAction {
						t.Fatalf("the test takes %+v to have gone to %s", r, from)
					}
					want[[2]string{from, to}]++
					if from != to {
						flips = append(flips, r.Seq)
					}
				}
				got := map[[2]string]int64{}
				for _, c := range report.Matrix {
					got[[2]string{c.From, c.To}] = c.Count
				}
				if !maps.Equal(got, want) {
					t.Fatalf("the matrix is %v, want %v", got, want)
				}
				var seqs []int64
				for _, f := range report.Changed {
					i := slices.IndexFunc(rounds, func(r replay.Recorded) bool { return r.Task == f.Task && r.N == f.Event })
					seqs = append(seqs, rounds[i].Seq)
					if f.Round != rounds[i].Round || f.At != rounds[i].At || f.From != rounds[i].Decision || len(f.Causes) == 0 {
						t.Fatalf("a flip of %+v is %+v", rounds[i], f)
					}
				}
				if !slices.Equal(seqs, flips) {
					t.Fatalf("events %v flip, want %v", seqs, flips)
				}
			})
		})
	}
}

func TestCauses(t *testing.T) {
	p := load(t, "routing@1.2.0")
	for _, c := range []struct {
		name      string
		candidate *routing.Policy
		in        routing.Input
		findings  map[string]int
		to        string
		want      []string
		rows      []string // the text of the rules in Was and Now
	}{
		{
			"rerouted", amended(t, `"style": "executor"`, `"style": "askuser"`), once, map[string]int{"style": 2, "missing-test": 1}, "askuser",
			[]string{"style goes to askuser, not to executor"}, nil,
		},
		{
			"known", amended(t, `"style": "executor",`, `"style": "executor", "made-up": "executor",`), once, map[string]int{"style": 2, "made-up": 1}, "executor",
			[]string{"made-up is known now, and goes to executor"}, nil,
		},
		{
			"unknown", amended(t, `"style": "executor",`, ``), once, map[string]int{"style": 2}, "stuck",
			[]string{"style is not known any more"}, nil,
		},
		{
			"rules", amended(t, `input.round >= input.max_rounds`, `input.round > input.max_rounds`),
			routing.Input{Round: 3, MaxRounds: 3, Verify: routing.Green}, map[string]int{"style": 1}, "executor",
			[]string{"rules"}, []string{`"reason": "max-rounds"`, `"reason": "routed"`},
		},
		{
			"both",
			amended(t, `input.round >= input.max_rounds`, `input.round > input.max_rounds`, `"style": "executor"`, `"style": "researcher"`),
			routing.Input{Round: 3, MaxRounds: 3, Verify: routing.Green}, map[string]int{"style": 1}, "researcher",
			[]string{"style goes to researcher, not to executor", "rules"}, []string{`"reason": "max-rounds"`, `"reason": "routed"`},
		},
		{
			"precedence", amended(t, `["stuck", "askuser", "plan-checker", "researcher", "executor"]`, `["stuck", "askuser", "plan-checker", "executor", "researcher"]`),
			once, map[string]int{"style": 1, "information-missing": 1}, "executor",
			[]string{"executor outranks researcher now"}, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history{t: t, policy: p}
			h.decide(c.in, c.findings)
			find := func(_ context.Context, digest string) (*routing.Policy, error) {
				if digest != p.Identity().Digest {
					return nil, nil
				}
				return p, nil
			}
			report := replayed(t, c.candidate, h.decided, replay.Options{Find: find})
			if len(report.Changed) != 1 || report.Changed[0].To.NextAction != c.to {
				t.Fatalf("got %+v, want one flip to %s", report.Changed, c.to)
			}
			var got []string
			for _, cause := range report.Changed[0].Causes {
				if cause.Kind != replay.CauseRules {
					got = append(got, cause.String())
					continue
				}
				got = append(got, "rules")
				if cause.Was == nil || cause.Now == nil {
					t.Fatalf("the rules are not named: %+v", cause)
				}
				if !strings.Contains(cause.Was.Text, c.rows[0]) || !strings.Contains(cause.Now.Text, c.rows[1]) {
					t.Errorf("the rules are %q and %q, want %s and %s", cause.Was.Text, cause.Now.Text, c.rows[0], c.rows[1])
				}
				if want := fmt.Sprintf("%s:%d decides, not %s:%d", cause.Now.File, cause.Now.Row, cause.Was.File, cause.Was.Row); cause.String() != want {
					t.Errorf("in words: %s", cause)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNoneToAsk checks that a missing policy has no rule to name, and that a failed
// lookup ends the replay.
func TestNoneToAsk(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(routing.Input{Round: 3, MaxRounds: 3, Verify: routing.Green}, map[string]int{"style": 1})
	candidate := amended(t, `input.round >= input.max_rounds`, `input.round > input.max_rounds`)
	lost := func(context.Context, string) (*routing.Policy, error) { return nil, nil }
	for _, o := range []replay.Options{{}, {Find: lost}} {
		causes := replayed(t, candidate, h.decided, o).Changed[0].Causes
		if len(causes) != 1 || causes[0].Kind != replay.CauseRules || causes[0].Was != nil || causes[0].Now == nil {
			t.Errorf("got %+v", causes)
		}
	}
	broken := errors.New("no disk")
	y := replay.New(candidate, replay.Options{Find: func(context.Context, string) (*routing.Policy, error) { return nil, broken }})
	if err := y.Add(t.Context(), h.decided[0]); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestUndecided checks that rejected inputs, failures and disallowed decisions count as
// changed.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		name      string
		candidate *routing.Policy
		spoil     func(*replay.Recorded)
		code      errs.Code
	}{
		{"no rule holds", amended(t, `input.finding_count == 0`, `input.finding_count == 1000`), nil, errs.PolicyUndefined},
		{"undeclared", amended(t, `{"next_action": "commit", "reason": "no-findings"}`, `{"next_action": "nowhere", "reason": "no-findings"}`), nil, errs.PolicyUndeclaredDestination},
		{"refused", load(t, "routing@1.2.0"), func(r *replay.Recorded) { r.Input.StalledRounds = 2 }, errs.PolicyInvalidInput},
		{"built-in fails", amended(t, `input.stalled_rounds == 0`, `1 / input.stalled_rounds == 0`), nil, errs.PolicyFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history{t: t, policy: load(t, "routing@1.2.0")}
			h.decide(once, nil)
			if c.spoil != nil {
				c.spoil(&h.decided[0])
			}
			report := replayed(t, c.candidate, h.decided, replay.Options{})
			want := routing.Decision{NextAction: routing.Undecided, Reason: string(c.code)}
			if len(report.Changed) != 1 || report.Changed[0].To != want {
				t.Fatalf("got %+v, want %+v", report.Changed, want)
			}
			if !slices.Equal(report.Matrix, []replay.Cell{{From: "commit", To: routing.Undecided, Count: 1}}) || report.ChangedCount() != 1 {
				t.Errorf("the matrix is %+v", report.Matrix)
			}
			if len(report.Changed[0].Causes) != 1 || report.Changed[0].Causes[0].Kind != replay.CauseRules {
				t.Errorf("the causes are %+v", report.Changed[0].Causes)
			}
		})
	}
}

// TestUnsafeCommit checks that a candidate cannot commit over findings.
func TestUnsafeCommit(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, map[string]int{"style": 1})
	report := replayed(t, amended(t, `"next_action": _strongest`, `"next_action": "commit"`), h.decided, replay.Options{})
	if len(report.Changed) != 1 || report.Changed[0].To != (routing.Decision{NextAction: routing.Undecided, Reason: string(errs.PolicyUnsafeCommit)}) {
		t.Errorf("got %+v", report.Changed)
	}
}

// TestAnotherReason checks that a change of the reason alone is not a changed decision.
func TestAnotherReason(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, nil)
	h.decide(routing.Input{Round: 1, MaxRounds: 1, Verify: routing.Absent}, nil)
	report := replayed(t, amended(t, `"reason": "no-findings"`, `"reason": "all-well"`), h.decided, replay.Options{})
	if report.ChangedCount() != 0 || !slices.Equal(report.Reasons, []replay.Cell{{From: "no-findings", To: "all-well", Count: 2}}) {
		t.Errorf("got %+v", report)
	}
	if got, want := report.Summary(), "2 recorded decisions decided again: none flips; 2 for another reason"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	same := replayed(t, h.policy, h.decided, replay.Options{})
	same.Candidate = report.Candidate
	if same.Digest() == report.Digest() {
		t.Error("the digest does not cover reasons")
	}
}

// TestASlowCandidateEndsTheReplay: a policy's timeout is not a property of the round.
func TestASlowCandidateEndsTheReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: it takes a second, the time that a policy has")
	}
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, nil)
	slow := amended(t, `input.finding_count == 0`, `count([x | some x in numbers.range(1, 100000); some y in numbers.range(1, 100000); x == y + input.round]) == 0`)
	if err := replay.New(slow, replay.Options{}).Add(t.Context(), h.decided[0]); errs.CodeOf(err) != errs.PolicyTimeout {
		t.Errorf("got %v, want %s", err, errs.PolicyTimeout)
	}
}

func TestCancelledReplay(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	y := replay.New(h.policy, replay.Options{})
	if err := y.Add(ctx, h.decided[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if r := y.Report(); r.Decisions != 0 || r.ChangedCount() != 0 {
		t.Errorf("a cancelled decision counts: %+v", r)
	}
}

// TestContradictions checks that a record that contradicts itself ends the replay.
func TestContradictions(t *testing.T) {
	p := load(t, "routing@1.2.0")
	for name, spoil := range map[string]func(*replay.Recorded){
		"no task":              func(r *replay.Recorded) { r.Task = "" },
		"another round":        func(r *replay.Recorded) { r.Round = 2 },
		"no next action":       func(r *replay.Recorded) { r.Decision.NextAction = "" },
		"no name":              func(r *replay.Recorded) { r.Decision.NextAction = "exe\ncutor" },
		"no reason":            func(r *replay.Recorded) { r.Decision.Reason = strings.Repeat("r", 65) },
		"no policy":            func(r *replay.Recorded) { r.Policy.Digest = "" },
		"too few findings":     func(r *replay.Recorded) { r.Input.FindingCount = 2 },
		"another route":        func(r *replay.Recorded) { r.Categories[0].Route = "researcher" },
		"no finding":           func(r *replay.Recorded) { r.Categories[0].Count = 0 },
		"less than no finding": func(r *replay.Recorded) { r.Categories[0].Count = -1 },
		"out of order":         func(r *replay.Recorded) { r.Seq = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			h := history{t: t, policy: p}
			h.decide(once, map[string]int{"style": 1})
			spoil(&h.decided[0])
			err := replay.New(p, replay.Options{}).Add(t.Context(), h.decided[0])
			f, ok := errors.AsType[*errs.Error](err)
			if !ok || f.Code != errs.ReplayRecordInvalid || f.Details["event"] != int64(1) {
				t.Errorf("got %v, want %s", err, errs.ReplayRecordInvalid)
			}
		})
	}
}

// TestZeroRoutes checks that a destination without findings is the same as a missing one.
func TestZeroRoutes(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, map[string]int{"style": 1})
	h.decided[0].Input.Routes["askuser"] = 0
	if report := replayed(t, h.policy, h.decided, replay.Options{}); report.ChangedCount() != 0 {
		t.Errorf("got %+v", report)
	}
}

func TestTooVaried(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, nil)
	r := h.decided[0]
	y := replay.New(h.policy, replay.Options{})
	for i := range 10_001 {
		r.Seq++
		r.Policy.Digest = fmt.Sprint(i)
		err := y.Add(t.Context(), r)
		switch {
		case i < 10_000 && err != nil:
			t.Fatalf("policy %d: %v", i+1, err)
		case i == 10_000 && errs.CodeOf(err) != errs.ReplayTooVaried:
			t.Errorf("got %v, want %s", err, errs.ReplayTooVaried)
		}
	}
}

// TestManyFlips checks that a thousand are listed and the digest covers all.
func TestManyFlips(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	for range 1003 {
		h.decide(once, map[string]int{"style": 1})
	}
	candidate := amended(t, `"style": "executor"`, `"style": "researcher"`)
	report := replayed(t, candidate, h.decided, replay.Options{})
	if len(report.Changed) != 1000 || report.Omitted != 3 || report.ChangedCount() != 1003 {
		t.Fatalf("%d flips are listed and %d are not", len(report.Changed), report.Omitted)
	}
	if !slices.IsSortedFunc(report.Changed, func(a, b replay.ChangedDecision) int {
		return strings.Compare(fmt.Sprintf("%09s%d", a.Task, a.Event), fmt.Sprintf("%09s%d", b.Task, b.Event))
	}) {
		t.Error("the flips are not in order")
	}
	h.decided[1002].Task = "another"
	if other := replayed(t, candidate, h.decided, replay.Options{}); other.Digest() == report.Digest() {
		t.Error("the digest does not cover the flips that are not listed")
	}
}

// TestDigest checks that the digest depends on the replayed rounds and results only.
func TestDigest(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, map[string]int{"style": 1})
	h.decide(once, nil)
	candidate := amended(t, `"style": "executor"`, `"style": "researcher"`)
	digest := func(p *routing.Policy, rounds []replay.Recorded, since time.Time) string {
		d := replayed(t, p, rounds, replay.Options{Since: since}).Digest()
		if len(d) != 71 || !strings.HasPrefix(d, "sha256:") {
			t.Fatalf("%q is no digest", d)
		}
		return d
	}
	was := digest(candidate, h.decided, time.Time{})
	if digest(candidate, h.decided, time.Time{}) != was {
		t.Error("the same replay has two digests")
	}
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if digest(candidate, h.decided, noon) != digest(candidate, h.decided, noon.In(time.FixedZone("there", 3600))) {
		t.Error("the digest depends on how the time is written")
	}
	later := slices.Clone(h.decided)
	later[1].Seq++
	seen := map[string]string{was: "the original"}
	for name, other := range map[string]string{
		"another candidate": digest(h.policy, h.decided, time.Time{}),
		"fewer rounds":      digest(candidate, h.decided[:1], time.Time{}),
		"since":             digest(candidate, h.decided, noon),
		"another place":     digest(candidate, later, time.Time{}),
	} {
		if seen[other] != "" {
			t.Errorf("%s has the digest of %s", name, seen[other])
		}
		seen[other] = name
	}
}

func TestSummary(t *testing.T) {
	h := history{t: t, policy: load(t, "routing@1.2.0")}
	h.decide(once, map[string]int{"style": 1})
	h.decide(once, map[string]int{"style": 1, "question-to-user": 1})
	h.decide(once, nil)
	h.decide(once, map[string]int{"style": 2, "missing-test": 1})
	report := replayed(t, amended(t, `"style": "executor"`, `"style": "plan-checker"`), h.decided, replay.Options{})
	if got, want := report.Summary(), "4 recorded decisions decided again: 2 flips, of which 2 from executor to plan-checker"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := replayed(t, h.policy, nil, replay.Options{}).Summary(), "0 recorded decisions decided again: none flips"; got != want {
		t.Errorf("of nothing: %q, want %q", got, want)
	}
}

// BenchmarkAdd measures a typical round, which is in the cache.
func BenchmarkAdd(b *testing.B) {
	h := history{t: b, policy: load(b, "routing@1.2.0")}
	h.decide(once, map[string]int{"style": 2, "missing-test": 1, "information-missing": 1, "scope-creep": 1})
	r := h.decided[0]
	y := replay.New(h.policy, replay.Options{})
	for b.Loop() {
		r.Seq++
		if err := y.Add(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
