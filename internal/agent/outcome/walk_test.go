package outcome_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// choice is one value of a fact, and the place of its row, -1 for the good one.
type choice struct {
	set func(*outcome.Facts)
	row int
}

// TestWalk judges every combination of all that can be seen. The first row of the
// table that applies must be the reason, whatever else is wrong; and only where no
// row applies the review counts.
func TestWalk(t *testing.T) {
	all := rows()
	var facts [][]choice
	for i, r := range all {
		if i == 0 || r.fact != all[i-1].fact {
			facts = append(facts, []choice{{func(*outcome.Facts) {}, -1}})
		}
		last := len(facts) - 1
		facts[last] = append(facts[last], choice{r.set, i})
	}
	walked := 0
	clean, findings := 0, 0
	var walk func(at int, f outcome.Facts, seen []int)
	walk = func(at int, f outcome.Facts, seen []int) {
		if at < len(facts) {
			for _, c := range facts[at] {
				next := f
				c.set(&next)
				if c.row < 0 {
					walk(at+1, next, seen)
				} else {
					walk(at+1, next, append(seen, c.row))
				}
			}
			return
		}
		for _, requires := range []bool{true, false} {
			for _, passed := range []bool{true, false} {
				f.Report, f.Passed = requires, passed
				v, want := outcome.Judge(f), expected(all, seen, f)
				if v != want {
					t.Fatalf("%+v is %+v, want %+v", f, v, want)
				}
				walked++
				switch v.Outcome {
				case outcome.Clean:
					clean++
				case outcome.Findings:
					findings++
				}
			}
		}
	}
	walk(0, good(), make([]int, 0, len(facts)))
	if walked < 1_000_000 {
		t.Errorf("only %d combinations were judged", walked)
	}
	if clean != 1 || findings != 1 {
		t.Errorf("%d combinations are clean and %d have findings, want one each", clean, findings)
	}
}

// expected is what the rows say of facts in which those of seen apply, in rising
// order.
func expected(all []row, seen []int, f outcome.Facts) outcome.Verdict {
	want := outcome.Verdict{Changed: f.Changed}
	if f.Report {
		want.Outcome = outcome.Findings
		if f.Passed {
			want.Outcome = outcome.Clean
		}
	} else {
		want.Outcome = outcome.OK
	}
	// What is cancelled before it began is cancelled, the one exception.
	if !f.Started && f.Killed == outcome.KilledCancelled {
		seen = seen[1:]
	}
	first := slices.IndexFunc(seen, func(i int) bool {
		return f.Report || all[i].fact != "envelope" && all[i].fact != "report"
	})
	if first < 0 {
		return want
	}
	want.Reason, want.Class = all[seen[first]].reason, all[seen[first]].class
	want.Outcome = outcome.CriticError
	if !f.Report {
		want.Outcome = outcome.Failed
		if all[seen[first]].fact == "the host's check" {
			want.Reason = outcome.ReasonUnreadableOutput
		}
	}
	return want
}

// TestWalkOfEditors judges every combination of facts about an agent that edits. A tree
// that nothing may build on outweighs all other facts, unless the run was cut short and
// the tree could not be compared.
func TestWalkOfEditors(t *testing.T) {
	all := slices.DeleteFunc(rows(), func(r row) bool { return r.fact == "envelope" || r.fact == "report" || r.fact == "working tree" })
	spoiled := map[outcome.Tree]outcome.Reason{
		"gone": "tree-gone", "unreadable": "tree-unreadable", "git-changed": "git-changed", "protected-changed": "protected-changed",
		"": "tree-unreadable", "odd": "tree-unreadable",
	}
	var facts [][]row
	for i, r := range all {
		if i == 0 || r.fact != all[i-1].fact {
			facts = append(facts, nil)
		}
		facts[len(facts)-1] = append(facts[len(facts)-1], r)
	}
	walked, edited := 0, 0
	// first is the first row that applies.
	var walk func(at int, f outcome.Facts, first *row)
	walk = func(at int, f outcome.Facts, first *row) {
		if at < len(facts) {
			walk(at+1, f, first)
			for _, r := range facts[at] {
				changed, now := f, first
				r.set(&changed)
				if first == nil && (r.fact != "a tool" || f.Tree != outcome.TreeEdited) {
					now = &r
				}
				walk(at+1, changed, now)
			}
			return
		}
		want := outcome.Verdict{Outcome: outcome.Edited}
		cut := f.Killed == outcome.KilledCancelled || f.Killed == outcome.KilledLost
		unknown := spoiled[f.Tree] == outcome.ReasonTreeUnreadable
		switch reason, ok := spoiled[f.Tree]; {
		case !f.Started && f.Killed != outcome.KilledCancelled:
			want = outcome.Verdict{Outcome: outcome.Failed, Reason: "start-failed", Class: outcome.Config}
		case !f.Started:
			want = outcome.Verdict{Outcome: outcome.Failed, Reason: "cancelled"}
		case ok && !(cut && unknown):
			want = outcome.Verdict{Outcome: outcome.Failed, Reason: reason}
		case first != nil:
			want = outcome.Verdict{Outcome: outcome.Failed, Reason: first.reason, Class: first.class}
			if first.fact == "the host's check" {
				want.Reason = outcome.ReasonUnreadableOutput
			}
		case f.Tree == outcome.TreeUnchanged:
			want = outcome.Verdict{Outcome: outcome.NoChange, Reason: "no-change", Class: outcome.Malformed}
		}
		want.Partial = want.Outcome == outcome.Failed && f.Tree == outcome.TreeEdited
		for _, f.Changed = range []bool{true, false} {
			if v := outcome.Judge(f); v != want {
				t.Fatalf("%+v is %+v, want %+v", f, v, want)
			}
			walked++
		}
		if want.Outcome == outcome.Edited {
			edited++
		}
	}
	for _, tree := range []outcome.Tree{"gone", "unreadable", "git-changed", "protected-changed", "edited", "unchanged", "", "odd"} {
		f := editor()
		f.Tree = tree
		walk(0, f, nil)
	}
	// Without and with a refused tool.
	if walked < 100_000 || edited != 2 {
		t.Errorf("of %d combinations %d count as edited, want 2", walked, edited)
	}
}

// TestUnknownValues: what no version of ours has written is an error, wherever it
// stands.
func TestUnknownValues(t *testing.T) {
	for want, set := range map[outcome.Reason]func(*outcome.Facts){
		outcome.ReasonKilled:           func(f *outcome.Facts) { f.Killed = "Timed-Out" },
		outcome.ReasonErrorUnknown:     func(f *outcome.Facts) { f.Failure = "odd" },
		outcome.ReasonExitUnknown:      func(f *outcome.Facts) { f.Exit = "" },
		outcome.ReasonUnreadableOutput: func(f *outcome.Facts) { f.Text = "" },
		outcome.ReasonEnvelopeInvalid:  func(f *outcome.Facts) { f.Envelope = "" },
		outcome.ReasonReportInvalid:    func(f *outcome.Facts) { f.File = "OK" },
	} {
		f := good()
		set(&f)
		if v := outcome.Judge(f); v.Reason != want || v.Outcome != outcome.CriticError || v.Reason.Message() == "" {
			t.Errorf("%+v is %+v, want %s", f, v, want)
		}
	}
	if v := outcome.Judge(outcome.Facts{}); v.Good() {
		t.Errorf("nothing at all is %+v", v)
	}
}
