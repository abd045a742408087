package replay_test

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/review"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// reviews records the reviews of a task, decided by a policy as the host does.
type reviews struct {
	task     string
	before   int64 // the events of the ledger before
	policy   *routing.Policy
	state    task.State
	recorded []replay.Recorded
}

// found is a finding of a review.
type found struct {
	category string
	severity finding.Severity
	status   task.FindingStatus
	induced  *bool
}

// review records one more review, by default of round 1 with a cap of 3.
func (h *reviews) review(t rapid.TB, round, maxRounds int, findings ...found) review.Result {
	t.Helper()
	r := review.Review{
		State: h.state, Round: cmp.Or(round, 1), MaxRounds: cmp.Or(maxRounds, 3), Verify: routing.Green, Settled: true,
	}
	r.HardCap = task.HardCap(r.MaxRounds, 0)
	recorded := replay.Recorded{
		Seq: h.before + int64(h.state.Reviews+1), N: int64(h.state.Reviews + 1), Task: h.task, Round: r.Round, Reviewed: true,
		At: "2026-11-21T12:00:00.000000000Z", Policy: h.policy.Identity(),
	}
	for _, f := range findings {
		to, _ := h.policy.Route(f.category)
		past := task.Trace{}
		if f.status != task.New {
			past.Last = 1
		}
		r.Findings = append(r.Findings, review.Finding{
			Severity: f.severity, Route: to, Reviewed: task.Reviewed{Status: f.status, Past: past, Induced: f.induced},
		})
	}
	result, err := r.Decide(context.Background(), h.policy)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range findings {
		to, known := h.policy.Route(f.category)
		recorded.Categories = append(recorded.Categories, replay.Category{
			Name: f.category, Route: to, Unknown: !known, Severity: f.severity, Standing: f.status, Deferred: r.Findings[i].Deferred, Count: 1,
		})
	}
	recorded.Input, recorded.BarInput, recorded.PolicyBar, recorded.Bar = result.Input, result.BarInput, result.PolicyBar, result.Bar
	recorded.Decision = result.Decision
	h.recorded = append(h.recorded, recorded)
	h.state = h.state.AfterReview(result.Input.FindingCount, r.Progress())
	if result.Bar.Above(routing.BarAll) {
		h.state.Bar = string(result.Bar)
	}
	return result
}

// anyReviews draws the reviews of some tasks, and has each of the policies decide them.
func anyReviews(t *rapid.T, induced bool, policies ...*routing.Policy) []*reviews {
	categories := []string{"style", "dead-code", "question-to-user", "information-missing", "contradiction", "made-up"}
	var all []*reviews
	for i := range rapid.IntRange(1, 3).Draw(t, "tasks") {
		by := make([]*reviews, len(policies))
		for j, p := range policies {
			by[j] = &reviews{task: fmt.Sprintf("T-%d", i), before: int64(i) * 100, policy: p}
		}
		for n := range rapid.IntRange(1, 8).Draw(t, "reviews") {
			var findings []found
			for range rapid.IntRange(0, 4).Draw(t, "findings") {
				f := found{
					category: rapid.SampledFrom(categories).Draw(t, "category"),
					severity: rapid.SampledFrom([]finding.Severity{finding.Fail, finding.Risk, finding.Nit}).Draw(t, "severity"),
					status:   task.New,
				}
				if n > 0 {
					f.status = rapid.SampledFrom([]task.FindingStatus{task.New, task.New, task.Reopened}).Draw(t, "status")
				}
				if induced && n > 0 {
					yes := rapid.IntRange(0, 3).Draw(t, "induced") > 0
					f.induced = &yes
				}
				findings = append(findings, f)
			}
			for _, h := range by {
				h.review(t, n+1, 3, findings...)
			}
		}
		all = append(all, by...)
	}
	return all
}

func TestAPolicyWithABarDecidesAgainAsRecorded(t *testing.T) {
	p := load(t, "routing@1.3.0")
	deferred, raised := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		y := replay.New(p, replay.Options{})
		for _, h := range anyReviews(t, true, p) {
			for _, r := range h.recorded {
				o, err := replay.NewDecider(p).Decide(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if o.Decision != r.Decision || o.Bar != r.Bar || o.PolicyBar != r.PolicyBar {
					t.Fatalf("%+v with the bars %s and %s, was %+v with %s and %s", o.Decision, o.Bar, o.PolicyBar, r.Decision, r.Bar, r.PolicyBar)
				}
				if got, want := o.Input, r.Input; got.FindingCount != want.FindingCount || !reflect.DeepEqual(got.Facts, want.Facts) ||
					got.StalledRounds != want.StalledRounds || got.NewCount != want.NewCount {
					t.Fatalf("decided on %+v %+v, was %+v %+v", got, *got.Facts, want, *want.Facts)
				}
				if err := y.Add(context.Background(), r); err != nil {
					t.Fatal(err)
				}
				deferred += r.Input.DeferredCount
				if r.PolicyBar != routing.BarAll {
					raised++
				}
			}
		}
		if report := y.Report(); report.ChangedCount() > 0 || len(report.Reasons) > 0 || slices.ContainsFunc(report.Bars, func(c replay.Cell) bool { return c.From != c.To }) {
			t.Fatalf("%+v", report)
		}
	})
	if !t.Failed() && (deferred == 0 || raised == 0) {
		t.Errorf("%d findings were deferred, by %d bars", deferred, raised)
	}
}

// What a policy without a bar recorded shows the bar of one with a bar, as long as nothing
// is induced.
func TestFactsOfARecordWithoutThem(t *testing.T) {
	without, p := load(t, "routing@1.2.0"), load(t, "routing@1.3.0")
	raised := 0
	rapid.Check(t, func(t *rapid.T) {
		all := anyReviews(t, false, without, p)
		d := replay.NewDecider(p)
		for i := 0; i < len(all); i += 2 {
			for n, r := range all[i].recorded {
				o, err := d.Decide(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				want := all[i+1].recorded[n]
				if o.PolicyBar != want.PolicyBar {
					t.Fatalf("review %d: the bar is %s, want %s", n+1, o.PolicyBar, want.PolicyBar)
				}
				if want.PolicyBar != routing.BarAll {
					raised++
				}
			}
		}
	})
	if !t.Failed() && raised == 0 {
		t.Error("no bar was raised")
	}
}

// The record of a decision of a policy without a bar has the confinement of its reports.
func TestConfinementOfARecordWithoutFacts(t *testing.T) {
	sources := load(t, "routing@1.3.0").Sources()
	sources[0].Text = strings.Replace(sources[0].Text, `input.reviews_since_low >= 3`, `input.confinement == "files"`, 1)
	p, err := routing.Loader{}.FromSources(t.Context(), "amended", sources)
	if err != nil {
		t.Fatal(err)
	}
	h := reviews{task: "T", policy: load(t, "routing@1.2.0")}
	h.review(t, 1, 3, found{"style", finding.Nit, task.New, nil})
	for level, want := range map[confinement.Level]routing.Bar{"": routing.BarAll, confinement.None: routing.BarAll, confinement.Files: routing.BarFail} {
		r := h.recorded[0]
		r.Confinement = level
		if o, err := replay.NewDecider(p).Decide(t.Context(), r); err != nil || o.PolicyBar != want {
			t.Errorf("with confinement %q the bar is %q, %v", level, o.PolicyBar, err)
		}
	}
}

// A decision that changes only because of a level names it.
func TestConfinementAsACause(t *testing.T) {
	sources := load(t, "routing@1.3.0").Sources()
	const commits = `} else := {"next_action": "commit", "reason": "no-findings"} if {`
	sources[0].Text = strings.Replace(sources[0].Text, commits, `} else := {"next_action": "stuck", "reason": "unconfined"} if {
	input.finding_count == 0
	input.confinement in {"none", "files"}
`+commits, 1)
	p, err := routing.Loader{}.FromSources(t.Context(), "amended", sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"routing@1.2.0", "routing@1.3.0"} {
		for level, changes := range map[confinement.Level]bool{confinement.None: true, confinement.Files: true, confinement.Ports: false} {
			h := reviews{task: "T", policy: load(t, policy)}
			h.review(t, 1, 3)
			h.recorded[0].Confinement = level
			for _, in := range []*routing.Input{&h.recorded[0].Input, h.recorded[0].BarInput} {
				if in != nil && in.Facts != nil {
					in.Confinement = level
				}
			}
			report := replayed(t, p, h.recorded, replay.Options{})
			if (len(report.Changed) == 1) != changes {
				t.Errorf("%s at %s: %+v", policy, level, report.Changed)
			}
			for _, c := range report.Changed {
				cause := c.Causes[0]
				if len(c.Causes) != 1 || cause.Kind != replay.CauseConfinement || cause.From != string(level) || !strings.HasSuffix(cause.String(), " decides, at confinement "+string(level)) {
					t.Errorf("%s at %s: because %v", policy, level, c.Causes)
				}
			}
		}
	}
}

// The other way around, nothing is deferred.
func TestAPolicyWithoutABarDecidesAboutDeferredFindings(t *testing.T) {
	h := reviews{task: "T", policy: load(t, "routing@1.3.0")}
	h.review(t, 1, 9, found{"style", finding.Nit, task.New, nil})
	for round := 2; round <= 3; round++ {
		h.review(t, round, 9, found{"style", finding.Nit, task.New, nil}, found{"style", finding.Nit, task.New, nil})
	}
	report := replayed(t, load(t, "routing@1.2.0"), h.recorded, replay.Options{})
	if len(report.Changed) != 1 || report.Changed[0].Round != 3 || report.Changed[0].From.NextAction != "commit" || report.Changed[0].To.NextAction != "executor" {
		t.Fatalf("%+v", report.Changed)
	}
	want := []replay.Cause{{Kind: replay.CauseBar, From: "risk", To: "all"}}
	if got := report.Changed[0].Causes; !slices.Equal(got, want) || got[0].String() != "the bar is all, not risk, and defers 0 findings" {
		t.Errorf("because %v", got)
	}
	if want := []replay.Cell{{From: "all", To: "all", Count: 2}, {From: "risk", To: "all", Count: 1}}; !slices.Equal(report.Bars, want) {
		t.Errorf("bars %+v", report.Bars)
	}
}

// A record in which findings are deferred without a bar, or in another number than its
// input says, is refused.
func TestRecordsThatDeferWithoutABarAreRefused(t *testing.T) {
	h := reviews{task: "T", policy: load(t, "routing@1.3.0")}
	h.review(t, 1, 9, found{"style", finding.Nit, task.New, nil})
	for name, change := range map[string]func(*replay.Recorded){
		"deferred":         func(r *replay.Recorded) { r.Categories[0].Deferred = true },
		"no bar input":     func(r *replay.Recorded) { r.BarInput = nil },
		"bar input alone":  func(r *replay.Recorded) { r.Input.Facts = nil },
		"bar without fact": func(r *replay.Recorded) { in := *r.BarInput; in.Facts = nil; r.BarInput = &in },
	} {
		r := h.recorded[0]
		r.Categories = slices.Clone(r.Categories)
		change(&r)
		if _, err := replay.NewDecider(h.policy).Decide(t.Context(), r); err == nil {
			t.Errorf("%s: it was decided", name)
		}
	}
}

func TestPlayOn(t *testing.T) {
	without := load(t, "routing@1.2.0")
	nit, risk, fail := found{"style", finding.Nit, task.New, nil}, found{"style", finding.Risk, task.New, nil}, found{"style", finding.Fail, task.New, nil}
	var rounds []replay.Recorded
	play := func(name string, maxRounds int, all ...[]found) {
		h := reviews{task: name, before: int64(len(rounds)), policy: without}
		for i, findings := range all {
			h.review(t, i+1, maxRounds, findings...)
		}
		rounds = append(rounds, h.recorded...)
	}
	// The bar rises in round 3, and nothing is left: two rounds are saved.
	play("minor", 9, []found{fail}, []found{nit, nit}, []found{nit, nit}, []found{risk}, nil)
	// The same to the end, with a bar that changes nothing.
	play("same", 9, []found{fail}, []found{fail, fail}, []found{fail, fail}, nil)
	// The record ends at the cap, and the candidate goes on.
	play("cap", 2, []found{fail, fail}, []found{fail})
	// The record ends while an agent works.
	play("open", 9, []found{fail}, []found{nit})
	// The bar is that of the review before, as in a task: round 3 raises it, and round 4,
	// which has no first-time finding, keeps it.
	play("latched", 9, []found{fail}, []found{fail, fail}, []found{fail, fail},
		[]found{{"style", finding.Nit, task.Reopened, nil}}, nil)
	// Open in the record, and at its end by the candidate.
	play("sooner", 9, []found{fail}, []found{nit, nit}, []found{nit, nit})
	report := replayed(t, load(t, "routing@1.3.0"), rounds, replay.Options{
		PlayOn: true, Find: func(context.Context, string) (*routing.Policy, error) { return without, nil },
	})
	got := *report.Played
	tasks := got.Tasks
	got.Tasks = nil
	if want := (replay.Played{Same: 1, Earlier: 3, SavedRounds: 3, Beyond: 1, Open: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("played %+v, want %+v", got, want)
	}
	byName := make(map[string]replay.PlayedTask)
	for _, p := range tasks {
		byName[p.Task] = p
	}
	commit, routed := routing.Decision{NextAction: "commit", Reason: "no-findings"}, routing.Decision{NextAction: "executor", Reason: "routed"}
	for _, want := range []replay.PlayedTask{
		{Task: "minor", Recorded: commit, Round: 5, Decision: commit, DecidedRound: 3, Ended: true, Bar: routing.BarRisk, Deferred: 2, Saved: 2},
		{Task: "latched", Recorded: commit, Round: 5, Decision: commit, DecidedRound: 4, Ended: true, Bar: routing.BarRisk, Deferred: 1, Saved: 1},
		{Task: "sooner", Recorded: routed, Round: 3, Decision: commit, DecidedRound: 3, Ended: true, Bar: routing.BarRisk, Deferred: 2},
		{Task: "cap", Recorded: routing.Decision{NextAction: "stuck", Reason: "max-rounds"}, Round: 2, Decision: routed, DecidedRound: 2, Bar: routing.BarAll},
	} {
		if got := byName[want.Task]; got != want {
			t.Errorf("%s: %+v, want %+v", want.Task, got, want)
		}
	}
	if _, listed := byName["same"]; listed || len(tasks) != 4 {
		t.Errorf("listed are %+v", tasks)
	}
	if report := replayed(t, load(t, "routing@1.3.0"), rounds, replay.Options{}); report.Played != nil {
		t.Error("nobody asked for the tasks")
	}
}
