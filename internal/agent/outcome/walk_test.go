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
