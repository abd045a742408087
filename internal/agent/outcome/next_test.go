package outcome_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// never and always are the ends of what chance can be.
func never() float64  { return 0 }
func always() float64 { return math.Nextafter(1, 0) }

// wrong is a verdict of that class.
func wrong(reason outcome.Reason, class outcome.Class) outcome.Verdict {
	return outcome.Verdict{Outcome: outcome.CriticError, Reason: reason, Class: class}
}

func TestNextWhereThereIsSomethingToUse(t *testing.T) {
	for _, o := range []outcome.Outcome{outcome.Clean, outcome.Findings, outcome.OK, outcome.Edited} {
		if step := outcome.Next(outcome.Verdict{Outcome: o}, outcome.Spent{}, never); step.Action != outcome.Done {
			t.Errorf("%s: %s", o, step.Action)
		}
	}
	if step := outcome.Next(outcome.Verdict{}, outcome.Spent{Left: time.Hour}, never); step.Action != outcome.Stop {
		t.Errorf("no verdict: %s", step.Action)
	}
}

func TestNextWithinTheTime(t *testing.T) {
	limited, refused := wrong("rate-limit", outcome.RateLimit), wrong("refused", outcome.Refused)
	spent := outcome.Spent{MaxRetries: 2, Fallbacks: 1, Left: time.Hour}
	for _, c := range []struct {
		name   string
		v      outcome.Verdict
		change func(*outcome.Spent)
		want   outcome.Action
	}{
		{"time is left", limited, func(*outcome.Spent) {}, outcome.Retry},
		{"time is over", limited, func(s *outcome.Spent) { s.Left = 0 }, outcome.Stop},
		{"time is over for another as well", refused, func(s *outcome.Spent) { s.Left = -1 }, outcome.Stop},
		{"the server asks for too much", limited, func(s *outcome.Spent) { s.RetryAfter = time.Hour }, outcome.Fallback},
		{"the server asks for more than there is", limited, func(s *outcome.Spent) { s.RetryAfter = math.MaxInt64 }, outcome.Fallback},
		{"the pause would be too long", limited, func(s *outcome.Spent) { s.Left = time.Second }, outcome.Fallback},
		{"the last retry", limited, func(s *outcome.Spent) { s.Retries = 1 }, outcome.Retry},
		{"no retry is left", limited, func(s *outcome.Spent) { s.Retries = 2 }, outcome.Fallback},
		{"retries are forbidden", limited, func(s *outcome.Spent) { s.MaxRetries = 0 }, outcome.Fallback},
		{"nothing is left", limited, func(s *outcome.Spent) { s.Retries, s.Fallbacks = 2, 0 }, outcome.Stop},
		{"no other adapter is left", refused, func(s *outcome.Spent) { s.Fallbacks = 0 }, outcome.Stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spent
			c.change(&s)
			if step := outcome.Next(c.v, s, always); step.Action != c.want {
				t.Errorf("%+v, want %s", step, c.want)
			}
		})
	}
}

// TestNextOnceAKind: that a malformed answer was retried takes nothing from what
// another kind of error may be retried for, and the other way round.
func TestNextOnceAKind(t *testing.T) {
	spent := outcome.Spent{Retries: 1, MaxRetries: 3, Left: time.Hour}
	bad := wrong(outcome.ReasonReportStale, outcome.Malformed)
	if step := outcome.Next(bad, spent, never); step.Action != outcome.Retry {
		t.Errorf("after a retry of another kind: %s", step.Action)
	}
	spent.OfClass = 1
	if step := outcome.Next(bad, spent, never); step.Action != outcome.Stop {
		t.Errorf("after one of its own: %s", step.Action)
	}
	if step := outcome.Next(wrong("overloaded", outcome.Overloaded), spent, never); step.Action != outcome.Retry {
		t.Errorf("a kind that may be retried often: %s", step.Action)
	}
}

// TestNextFromATouchedTree: whatever else was wrong, nobody goes on from there.
func TestNextFromATouchedTree(t *testing.T) {
	for _, r := range rows() {
		f := good()
		r.set(&f)
		f.Changed = true
		v := outcome.Judge(f)
		if step := outcome.Next(v, outcome.Spent{MaxRetries: 9, Fallbacks: 9, Left: time.Hour}, never); step.Action != outcome.Stop {
			t.Errorf("%s %s: %s", r.fact, r.value, step.Action)
		}
	}
}

// TestNextFromEdits: whatever went wrong, an agent that edits continues from the edits of
// the attempt before, also with another adapter, and its prompt says so.
func TestNextFromEdits(t *testing.T) {
	for _, r := range rows() {
		f := editor()
		r.set(&f)
		v := outcome.Judge(f)
		if v.Good() != slices.Contains([]string{"a tool", "envelope", "report", "working tree"}, r.fact) || v.Good() == v.Partial || v.Changed {
			t.Errorf("%s %s: %+v", r.fact, r.value, v)
		}
		if v.Good() {
			continue
		}
		if then := next(t, v); then != r.then {
			t.Errorf("%s %s: %s, want %s", r.fact, r.value, then, r.then)
		}
		step := outcome.Next(v, outcome.Spent{MaxRetries: 9, Fallbacks: 9, Left: time.Hour}, never)
		if noted := strings.Contains(step.Note, "as that attempt left it"); noted != (step.Action != outcome.Stop) {
			t.Errorf("%s %s: %s with the note %q", r.fact, r.value, step.Action, step.Note)
		}
	}
}

func TestNextTellsTheAgent(t *testing.T) {
	spent := outcome.Spent{MaxRetries: 1, Left: time.Hour}
	const stale = "An earlier attempt at this task was not accepted: the report is older than the spawn."
	if step := outcome.Next(wrong(outcome.ReasonReportStale, outcome.Malformed), spent, always); step.Note != stale || step.Pause != 0 {
		t.Errorf("a stale report: %+v", step)
	}
	const denied = "An earlier attempt at this task was not accepted: the agent was refused a tool. " +
		"Do the task with the tools that you have, and ask for no others."
	if step := outcome.Next(wrong(outcome.ReasonDenied, outcome.Malformed), spent, never); step.Note != denied {
		t.Errorf("a refused tool: %+v", step)
	}
	if step := outcome.Next(wrong("overloaded", outcome.Overloaded), spent, never); step.Note != "" {
		t.Errorf("the note is about what the agent could not help: %+v", step)
	}
}

func TestPauses(t *testing.T) {
	for _, c := range []struct {
		class    outcome.Class
		retries  int
		after    time.Duration
		from, to time.Duration // with the least and the most of luck
	}{
		{outcome.RateLimit, 0, 0, 0, 5 * time.Second},
		{outcome.RateLimit, 1, 0, 0, 10 * time.Second},
		{outcome.RateLimit, 1, 30 * time.Second, 30 * time.Second, 40 * time.Second},
		{outcome.Overloaded, 2, 0, 0, 8 * time.Second},
		{outcome.Crashed, 3, 0, 0, 8 * time.Second},
		{outcome.Crashed, 50, 0, 0, time.Minute},
		{outcome.Malformed, 3, 0, 0, 0},
		{outcome.Overloaded, 0, -time.Hour, 0, 2 * time.Second},
	} {
		spent := outcome.Spent{Retries: c.retries, MaxRetries: 100, RetryAfter: c.after, Left: 24 * time.Hour}
		least := outcome.Next(wrong("x", c.class), spent, never).Pause
		most := outcome.Next(wrong("x", c.class), spent, always).Pause
		if least != c.from || c.to-most > time.Microsecond || most > c.to {
			t.Errorf("%s after %d retries: from %s to %s, want from %s to %s", c.class, c.retries, least, most, c.from, c.to)
		}
	}
}

// TestEveryLoopEnds: however the attempts fail, a chain is worked off in a bounded
// number of steps, and in the time that there is.
func TestEveryLoopEnds(t *testing.T) {
	all := rows()
	rapid.Check(t, func(t *rapid.T) {
		retries, chain := rapid.IntRange(0, 5).Draw(t, "retries"), rapid.IntRange(1, 4).Draw(t, "chain")
		spent := outcome.Spent{MaxRetries: retries, Fallbacks: chain - 1, Left: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "left"))}
		ofClass := make(map[outcome.Class]int)
		for attempt := 1; ; attempt++ {
			if attempt > chain*(retries+1) {
				t.Fatalf("attempt %d of a chain of %d with %d retries each", attempt, chain, retries)
			}
			f := good()
			rapid.SampledFrom(all).Draw(t, "row").set(&f)
			v := outcome.Judge(f)
			spent.OfClass = ofClass[v.Class]
			spent.RetryAfter = time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "after"))
			step := outcome.Next(v, spent, func() float64 { return rapid.Float64Range(0, 1).Draw(t, "random") })
			switch step.Action {
			case outcome.Retry:
				if step.Pause < spent.RetryAfter || step.Pause >= spent.Left {
					t.Fatalf("a pause of %s, asked for %s, with %s left", step.Pause, spent.RetryAfter, spent.Left)
				}
				spent.Left -= step.Pause
				spent.Retries++
				ofClass[v.Class]++
			case outcome.Fallback:
				if spent.Fallbacks == 0 {
					t.Fatal("a fallback to nothing")
				}
				spent.Retries, spent.Fallbacks = 0, spent.Fallbacks-1
				clear(ofClass)
			case outcome.Stop:
				return
			default:
				t.Fatalf("%s after %+v", step.Action, v)
			}
		}
	})
}
