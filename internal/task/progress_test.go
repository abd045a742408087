package task_test

import (
	"fmt"
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
	trace := s.Trace(task.Trace{}, false)
	if trace != (task.Trace{First: 1, Since: 1, Last: 1}) {
		t.Errorf("first: %+v", trace)
	}
	s = decide(t, s, stands(s.Measure([]task.Reviewed{{Status: task.New}})))

	if s.Compare(trace) != task.Repeat {
		t.Errorf("second: %s", s.Compare(trace))
	}
	repeat := []task.Reviewed{{Status: task.Repeat, Past: trace}}
	p := s.Measure(repeat)
	if p != (task.Progress{Repeat: 1, Stalled: 1}) || !p.IsStalled() {
		t.Errorf("second: %+v", p)
	}
	trace = s.Trace(trace, false)
	s = decide(t, s, stands(p))

	// A red verification alone is not a review.
	s = decide(t, s, onRed)
	if p = s.Measure(repeat); p.Stalled != 2 || s.Round != 4 || s.Compare(trace) != task.Repeat {
		t.Errorf("third: %+v in round %d", p, s.Round)
	}

	gone := decide(t, s, stands(s.Measure(nil)))
	if gone.Stalled != 0 || gone.Compare(trace) != task.Reopened {
		t.Errorf("back in round %d: %s", gone.Round, gone.Compare(trace))
	}
	if back := gone.Trace(trace, false); back != (task.Trace{First: 1, Since: 5, Last: 4, Reopened: 1}) {
		t.Errorf("back: %+v", back)
	}

	stuck := decide(t, do(t, s, task.StartWork{MaxRounds: 50, Force: force}), toStuck)
	for mode, want := range map[task.Mode]task.FindingStatus{task.MoreRounds: task.Repeat, task.Manual: task.Repeat, task.Replan: task.Repeat, task.Reset: task.New} {
		resumed := do(t, stuck, task.ResumeTask{Mode: mode, Rounds: 5, Fallback: 3})
		last := stuck.Trace(task.Trace{}, false)
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
	for what, one := range map[string]int{"new": 2, "repeat": 2, "reopened": 2, "stalled": 2, "since low": 100, "induced": 100} {
		if !t.Failed() && seen[what] < tasks/one {
			t.Errorf("%s: reached %d times in %d tasks", what, seen[what], tasks)
		}
	}
}

// follow drives one task through random reviews.
func follow(t *rapid.T, seen map[string]int) {
	s := do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 1, MaxRounds: 100}})
	traces := make(map[string]task.Trace)
	var reviews [][]string         // since the last reset
	open := make(map[string]bool)  // in the last review
	known := make(map[string]bool) // in any review
	var firsts []int               // of the reviews since the bar was lowered
	stalled, inducedRounds := 0, 0
	for range rapid.IntRange(5, 30).Draw(t, "reviews") {
		switch rapid.IntRange(0, 14).Draw(t, "between") {
		case 0:
			s, reviews, stalled, firsts, inducedRounds = do(t, s, task.StartWork{MaxRounds: 100, Force: force}), nil, 0, nil, 0
		case 1:
			s, reviews, stalled, firsts, inducedRounds = do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.Reset, Fallback: 50}), nil, 0, nil, 0
		case 2:
			s, stalled, firsts, inducedRounds = do(t, s, task.StopTask{}, task.ResumeTask{Mode: task.Replan, Fallback: 50}), 0, nil, 0
		case 3:
			s = decide(t, s, onRed)
		}
		found := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 4, rapid.ID[string]).Draw(t, "found")
		if len(reviews) > 0 && rapid.Bool().Draw(t, "nothing done") {
			found = reviews[len(reviews)-1]
		} else {
			for range rapid.IntRange(0, 3).Draw(t, "fresh") {
				found = append(found, fmt.Sprint("fresh ", len(known)+len(found)))
			}
		}
		sees := rapid.Bool().Draw(t, "sees the draft")
		var want task.Progress
		var all []task.Reviewed
		induced, blame := 0, true
		still := 0
		for _, f := range found {
			r := task.Reviewed{Status: s.Compare(traces[f]), Past: traces[f], Blocking: rapid.Bool().Draw(t, "blocking")}
			r.Deferred = !r.Blocking && rapid.Bool().Draw(t, "deferred")
			r.Renamed = !known[f] && rapid.IntRange(0, 5).Draw(t, "renamed") == 0
			if sees {
				byFix := rapid.Bool().Draw(t, "induced")
				r.Induced = &byFix
			}
			all = append(all, r)
			status := task.Reopened
			switch {
			case !slices.ContainsFunc(reviews, func(r []string) bool { return slices.Contains(r, f) }):
				status = task.New
			case slices.Contains(reviews[len(reviews)-1], f):
				status = task.Repeat
				if open[f] {
					still++
				}
			}
			switch {
			case r.Deferred:
				want.Deferred++
			case status == task.New:
				want.New++
			case status == task.Repeat:
				want.Repeat++
			default:
				want.Reopened++
			}
			if !known[f] && !r.Renamed {
				want.FirstTime++
			}
			if r.Blocking {
				want.Blocking++
				blame = blame && sees && *r.Induced
			}
			if sees && *r.Induced {
				induced++
			}
			seen[string(status)]++
		}
		if len(reviews) > 0 {
			want.Resolved = len(open) - still
		}
		if want.Repeat > 0 && want.New+want.Reopened == 0 && want.Resolved == 0 {
			stalled++
			seen["stalled"]++
		} else {
			stalled = 0
		}
		want.Stalled = stalled
		firsts = append(firsts, want.FirstTime)
		want.SinceLow = sinceLow(firsts)
		if want.SinceLow > 1 {
			seen["since low"]++
		}
		inducedRounds++
		if want.Blocking == 0 || !blame {
			inducedRounds = 0
		}
		want.InducedRounds = inducedRounds
		if inducedRounds > 1 {
			seen["induced"]++
		}
		got := s.Measure(all)
		if (got.Induced != nil) != (sees && len(found) > 0) || got.Induced != nil && *got.Induced != induced {
			t.Fatalf("%+v: induced %v, want %d", all, got.Induced, induced)
		}
		if got.Induced = nil; got != want || got.IsStalled() != (stalled > 0) {
			t.Fatalf("%+v after %v: got %+v, want %+v", all, reviews, got, want)
		}
		clear(open)
		for i, f := range found {
			known[f] = true
			traces[f] = s.Trace(traces[f], all[i].Deferred)
			if tr := traces[f]; tr.First < 1 || tr.Since < tr.First || tr.Since > s.Round {
				t.Fatalf("in round %d: %+v", s.Round, tr)
			}
			if !all[i].Deferred {
				open[f] = true
			}
		}
		o := toExecutor
		o.FindingCount, o.Deferred, o.Stalled = len(open), want.Deferred, got.Stalled
		o.FirstTime, o.InducedRounds = got.FirstTime, got.InducedRounds
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

// sinceLow is Progress.SinceLow of the last review, from the first-time findings of all.
func sinceLow(firsts []int) int {
	n := 0
	for i := len(firsts) - 1; i >= 0 && firsts[i] > 0; i-- {
		low := 0
		for _, before := range firsts[:i] {
			if before > 0 && (low == 0 || before < low) {
				low = before
			}
		}
		if low == 0 || firsts[i] <= low {
			break
		}
		n++
	}
	return n
}
