package task_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestProgress follows one finding through the reviews of a task.
func TestProgress(t *testing.T) {
	stands := func(p task.Progress) task.DecideRound {
		o := toExecutor
		o.Stalled = p.Stalled
		return o
	}
	s := do(t, task.State{}, begin)
	if s.Compare(task.Trace{}) != task.New {
		t.Error("what was never seen is not new")
	}
	trace := s.Trace(task.Trace{})
	if trace != (task.Trace{First: 1, Since: 1, Last: 1}) {
		t.Errorf("first: %+v", trace)
	}
	s = decide(t, s, stands(s.Measure([]task.FindingStatus{task.New})))

	if s.Compare(trace) != task.Repeat {
		t.Errorf("second: %s", s.Compare(trace))
	}
	p := s.Measure([]task.FindingStatus{task.Repeat})
	if p != (task.Progress{Repeat: 1, Stalled: 1}) || !p.IsStalled() {
		t.Errorf("second: %+v", p)
	}
	trace = s.Trace(trace)
	s = decide(t, s, stands(p))

	// A red verification alone is not a review.
	s = decide(t, s, onRed)
	if p = s.Measure([]task.FindingStatus{task.Repeat}); p.Stalled != 2 || s.Round != 4 || s.Compare(trace) != task.Repeat {
		t.Errorf("third: %+v in round %d", p, s.Round)
	}

	gone := decide(t, s, stands(s.Measure(nil)))
	if gone.Stalled != 0 || gone.Compare(trace) != task.Reopened {
		t.Errorf("back in round %d: %s", gone.Round, gone.Compare(trace))
	}
	if back := gone.Trace(trace); back != (task.Trace{First: 1, Since: 5, Last: 4, Reopened: 1}) {
		t.Errorf("back: %+v", back)
	}

	stuck := decide(t, do(t, s, task.StartWork{MaxRounds: 50, Force: force}), toStuck)
	for mode, want := range map[task.Mode]task.FindingStatus{task.MoreRounds: task.Repeat, task.Manual: task.Repeat, task.Replan: task.Repeat, task.Reset: task.New} {
		resumed := do(t, stuck, task.ResumeTask{Mode: mode, Rounds: 5, Fallback: 3})
		last := stuck.Trace(task.Trace{})
		last.Last = stuck.Reviews
		if got := resumed.Compare(last); got != want || resumed.Stalled != 0 {
			t.Errorf("%s: %s, stalled %d", mode, got, resumed.Stalled)
		}
	}
}

// TestProgressIsThatOfTheFindings compares the measurement from traces with the lists of
// all reviews.
func TestProgressIsThatOfTheFindings(t *testing.T) {
	seen := make(map[string]int)
	tasks := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			tasks++
			follow(t, seen)
		}
	})
	for _, what := range []string{"new", "repeat", "reopened", "stalled"} {
		if !t.Failed() && seen[what] < tasks/2 {
			t.Errorf("%s: reached %d times in %d tasks", what, seen[what], tasks)
		}
	}
}

// follow drives one task through random reviews.
func follow(t *rapid.T, seen map[string]int) {
	s := do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 1, MaxRounds: 100}})
	traces := make(map[string]task.Trace)
	var reviews [][]string
	stalled := 0
	for range rapid.IntRange(5, 30).Draw(t, "reviews") {
		switch rapid.IntRange(0, 14).Draw(t, "between") {
		case 0:
			s, reviews, stalled = do(t, s, task.StartWork{MaxRounds: 100, Force: force}), nil, 0
		case 1:
			s, reviews, stalled = do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.Reset, Fallback: 50}), nil, 0
		case 2:
			s, stalled = do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.Replan, Fallback: 50}), 0
		case 3:
			s = decide(t, s, onRed)
		}
		found := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string]).Draw(t, "found")
		if len(reviews) > 0 && rapid.Bool().Draw(t, "nothing done") {
			found = reviews[len(reviews)-1]
		}
		var want task.Progress
		var standings []task.FindingStatus
		for _, f := range found {
			standing := s.Compare(traces[f])
			standings = append(standings, standing)
			before := slices.ContainsFunc(reviews, func(r []string) bool { return slices.Contains(r, f) })
			switch {
			case !before:
				want.New++
			case slices.Contains(reviews[len(reviews)-1], f):
				want.Repeat++
			default:
				want.Reopened++
			}
			seen[string(standing)]++
		}
		if len(reviews) > 0 {
			for _, f := range reviews[len(reviews)-1] {
				if !slices.Contains(found, f) {
					want.Resolved++
				}
			}
		}
		if len(found) > 0 && want.Repeat == len(found) && want.Resolved == 0 {
			stalled++
			seen["stalled"]++
		} else {
			stalled = 0
		}
		want.Stalled = stalled
		got := s.Measure(standings)
		if got != want || got.IsStalled() != (stalled > 0) {
			t.Fatalf("%v after %v: got %+v, want %+v", found, reviews, got, want)
		}
		for _, f := range found {
			traces[f] = s.Trace(traces[f])
			if tr := traces[f]; tr.First < 1 || tr.Since < tr.First || tr.Since > s.Round {
				t.Fatalf("in round %d: %+v", s.Round, tr)
			}
		}
		o := toExecutor
		o.FindingCount, o.Stalled = len(found), got.Stalled
		s = decide(t, s, o)
		reviews = append(reviews, found)
	}
}

// TestDraftOfTheLastReview tests which draft the next review is compared with.
func TestDraftOfTheLastReview(t *testing.T) {
	of := func(draft string, o task.DecideRound) task.DecideRound {
		o.Draft = draft
		return o
	}
	s := decide(t, task.State{}, of("one", toExecutor))
	if s.Draft != "one" || s.Last.Draft != "" {
		t.Errorf("after a review: %q, in the decision %q", s.Draft, s.Last.Draft)
	}
	if s = decide(t, s, of("", onRed)); s.Draft != "one" {
		t.Errorf("after a red round: %q", s.Draft)
	}
	stuck := decide(t, s, of("two", toStuck))
	for mode, want := range map[task.Mode]string{task.MoreRounds: "two", task.Manual: "two", task.Replan: "", task.Reset: ""} {
		if s := do(t, stuck, task.ResumeTask{Mode: mode, Rounds: 1, Fallback: 9, By: "ann", Reason: "again"}); s.Draft != want {
			t.Errorf("after %s: %q, want %q", mode, s.Draft, want)
		}
	}
	if s := do(t, stuck, task.StartWork{Fallback: 9}); s.Draft != "" {
		t.Errorf("after a start: %q", s.Draft)
	}
	if s := decide(t, s, of("", toExecutor)); s.Draft != "" {
		t.Errorf("after a review of an unknown draft: %q", s.Draft)
	}
}
