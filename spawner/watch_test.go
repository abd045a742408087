package spawner_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestBudgetOfAnAttempt tests that an agent that exceeds its tokens is ended while it
// runs.
func TestBudgetOfAnAttempt(t *testing.T) {
	t.Parallel()
	greedy := fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Say: "I think."}, fakeagent.Step{Hang: true})
	for _, c := range []struct {
		allowed int64
		reason  outcome.Reason
		timeout time.Duration
	}{
		{239, outcome.ReasonBudget, time.Minute},
		{240, outcome.ReasonTimedOut, 700 * time.Millisecond}, // It is at its limit, and not beyond it.
	} {
		s := newScene(t, greedy)
		job := s.job(t)
		job.Tokens, job.Timeout = c.allowed, c.timeout
		out, err := s.run(t, job)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Last().Verdict; got.Outcome != outcome.CriticError || got.Reason != c.reason {
			t.Errorf("with %d tokens: %+v, want %s", c.allowed, got, c.reason)
		}
	}
}

// TestHungAfterItsResult tests that an agent that does not exit after its final message
// is ended, and its result rejected.
func TestHungAfterItsResult(t *testing.T) {
	t.Parallel()
	stays := fakeagent.Clean()
	stays.Steps = append(stays.Steps, fakeagent.Step{Hang: true})
	s := newScene(t, stays)
	began := time.Now()
	// This clock runs 60 times as fast.
	s.Now = func() time.Time { return began.Add(60 * time.Since(began)) }
	job := s.job(t)
	job.Timeout = 10 * time.Minute
	out, err := s.run(t, job)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Last().Verdict; got.Outcome != outcome.CriticError || got.Reason != outcome.ReasonHungAfterResult {
		t.Errorf("%+v", got)
	}
}

// TestBabbler tests that an agent's output is limited, and uses disk space but not
// memory.
func TestBabbler(t *testing.T) {
	const allowed = 32 << 20 // half of the limit, and of what it tries to write
	// The environment may set a larger value.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for name, flood := range map[string]fakeagent.Flood{
		"one line without an end": {Bytes: 10 << 30},
		"lines":                   {Bytes: 10 << 30, Line: 200},
		"on standard error":       {Bytes: 10 << 30, To: "stderr"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Flood: &flood}))
			job := s.job(t)
			runtime.GC()
			stop, peak := make(chan struct{}), make(chan uint64)
			before := heap()
			go func() {
				most := uint64(0)
				for {
					select {
					case <-stop:
						peak <- most
						return
					case <-time.After(2 * time.Millisecond):
						most = max(most, heap())
					}
				}
			}()
			out, err := s.run(t, job)
			close(stop)
			most := <-peak
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Last(); got.Verdict.Reason != outcome.ReasonOutputLimit || got.Verdict.Class != outcome.Limit {
				t.Errorf("%+v", got.Verdict)
			}
			if most > before+allowed {
				t.Errorf("the heap grew by %d MiB", (most-before)>>20)
			}
			if stored := len(out.Last().Record.StderrExcerpt); stored > 4<<10 {
				t.Errorf("%d bytes of its standard error are kept", stored)
			}
		})
	}
}

// heap returns the number of bytes in use on the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestRecord tests that the record has the run's data and no secrets.
func TestRecord(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
	talks := fakeagent.Clean()
	talks.Session = "session-7"
	talks.Steps = append([]fakeagent.Step{{Print: &fakeagent.Print{To: "stderr", Text: "the key is " + secret + "\n"}}}, talks.Steps...)
	s := newScene(t, talks)
	if _, err := s.run(t, s.job(t)); err != nil {
		t.Fatal(err)
	}
	r, call := s.trail(t)[0], s.calls(t)[0]
	if strings.Contains(r.StderrExcerpt, secret) || !strings.Contains(r.StderrExcerpt, "the key is") {
		t.Errorf("of standard error %q is kept", r.StderrExcerpt)
	}
	digest := strings.TrimPrefix(digest.Of(call.Stdin), "sha256:")
	if r.PromptSHA256 != digest || r.PromptBytes != int64(len(call.Stdin)) {
		t.Errorf("a prompt of %d bytes is recorded as %d, %s", len(call.Stdin), r.PromptBytes, r.PromptSHA256)
	}
	if r.PID != call.PID || r.Session != "session-7" || r.Task != "T" || r.Round != 1 || r.Agent != "critic" || r.Outcome != "clean" || r.ToolUses != 2 {
		t.Errorf("%+v", r)
	}
	if r.TokensIn == nil || *r.TokensIn != 200 || r.TokensOut == nil || *r.TokensOut != 40 || r.CostMicroDollars == nil || *r.CostMicroDollars != 1600 {
		t.Errorf("tokens %v and %v, cost %v", r.TokensIn, r.TokensOut, r.CostMicroDollars)
	}
	if r.Model == nil || *r.Model != "fake-model" || r.End != "exited" || r.ReportSHA256 == "" || r.Next != "" {
		t.Errorf("%+v", r)
	}
	if run, _ := call.Variable("SWITCHYARD_RUN"); run != r.RunID {
		t.Errorf("run %s was told that it is %s", r.RunID, run)
	}
	if temp, _ := call.Variable("TMPDIR"); !strings.HasPrefix(temp, s.Temp) || temp == s.Temp {
		t.Errorf("its temporary directory is %s", temp)
	}
}

// TestEndOfAUsageLimit tests that the record says when a usage limit ends.
func TestEndOfAUsageLimit(t *testing.T) {
	t.Parallel()
	s := newScene(t, play("usage-limit"), play("rate-limit"))
	before := time.Now().Truncate(time.Second).Add(time.Hour)
	for range 2 {
		if _, err := s.run(t, s.job(t)); err != nil {
			t.Fatal(err)
		}
	}
	records := s.trail(t)
	ends, err := time.Parse(time.RFC3339, records[0].ResetsAt)
	if err != nil || ends.Before(before) || ends.After(time.Now().Add(time.Hour)) || !strings.HasSuffix(records[0].ResetsAt, "Z") {
		t.Errorf("it ends at %q, %v", records[0].ResetsAt, err)
	}
	if records[0].Class != outcome.Quota || records[1].Class != outcome.RateLimit || records[1].ResetsAt != "" {
		t.Errorf("classes %s and %s, ends %q", records[0].Class, records[1].Class, records[1].ResetsAt)
	}
}

// TestProgressNamesTheTool tests that a running agent's progress has the tool that it
// used last.
func TestProgressNamesTheTool(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Tool: &fakeagent.Tool{Name: "Read"}},
		fakeagent.Step{Tool: &fakeagent.Tool{Name: "Grep"}}, fakeagent.Step{Hang: true}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := s.job(t)
	job.Observe = func(p spawner.Progress) {
		if p.Tool == "Grep" && p.Task == "T" {
			cancel()
		}
	}
	if _, err := s.spawner(t).Run(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
