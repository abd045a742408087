package spawner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/spawner"
)

func play(name string) fakeagent.Scenario { return fakeagent.Presets()[name] }

func TestAttempts(t *testing.T) {
	t.Parallel()
	writes := fakeagent.Clean()
	writes.Steps = append([]fakeagent.Step{{Write: &fakeagent.File{Path: "new.go", Text: "package a\n"}}}, writes.Steps...)
	for _, c := range []struct {
		name     string
		calls    []fakeagent.Scenario
		adapters []string
		retries  int
		// whys and by are the reasons and adapters of the attempts, and the rest is the
		// outcome of the last one.
		whys, by []string
		outcome  outcome.Outcome
		next     []string
	}{
		{"at once", []fakeagent.Scenario{play("clean")}, nil, 2, []string{"first"}, []string{"claude"}, outcome.Clean, []string{"done"}},
		{"with findings", []fakeagent.Scenario{play("findings")}, nil, 2, []string{"first"}, []string{"claude"}, outcome.Findings, []string{"done"}},
		{"after a retry", []fakeagent.Scenario{play("rate-limit"), play("clean")}, nil, 1,
			[]string{"first", "retry:rate-limit"}, []string{"claude", "claude"}, outcome.Clean, []string{"retry", "done"}},
		{"never", []fakeagent.Scenario{play("overloaded")}, nil, 2,
			[]string{"first", "retry:overloaded", "retry:overloaded"}, []string{"claude", "claude", "claude"}, outcome.CriticError, []string{"retry", "retry", "stop"}},
		{"no retries", []fakeagent.Scenario{play("crash")}, nil, 0, []string{"first"}, []string{"claude"}, outcome.CriticError, []string{"stop"}},
		{"with another adapter", []fakeagent.Scenario{play("auth"), play("clean")}, []string{"claude", "codex"}, 2,
			[]string{"first", "fallback:auth"}, []string{"claude", "codex"}, outcome.Clean, []string{"fallback", "done"}},
		{"retries count anew", []fakeagent.Scenario{play("crash"), play("crash"), play("crash"), play("clean")}, []string{"claude", "codex"}, 1,
			[]string{"first", "retry:crashed", "fallback:crashed", "retry:crashed"}, []string{"claude", "claude", "codex", "codex"}, outcome.Clean,
			[]string{"retry", "fallback", "retry", "done"}},
		{"malformed once more", []fakeagent.Scenario{play("no-report")}, nil, 5,
			[]string{"first", "retry:malformed"}, []string{"claude", "claude"}, outcome.CriticError, []string{"retry", "stop"}},
		{"nothing helps", []fakeagent.Scenario{play("too-long")}, []string{"claude", "codex"}, 5, []string{"first"}, []string{"claude"}, outcome.CriticError, []string{"stop"}},
		{"changed the tree", []fakeagent.Scenario{writes}, []string{"claude", "codex"}, 5, []string{"first"}, []string{"claude"}, outcome.CriticError, []string{"stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.calls...)
			job := s.job(t)
			job.Retries = c.retries
			if c.adapters != nil {
				job.Adapters = c.adapters
			}
			out, err := s.run(t, job)
			if err != nil {
				t.Fatal(err)
			}
			var whys, by, next []string
			runs := make(map[string]bool)
			for i, res := range out.Results {
				whys, by, next = append(whys, res.Why), append(by, res.Adapter), append(next, string(res.Next))
				runs[res.Run] = true
				if res.N != i+1 || res.Record.Attempt != i+1 || res.Record.Why != res.Why || res.Stdout != nil {
					t.Errorf("attempt %d is %+v", i+1, res.Attempt)
				}
			}
			if !slices.Equal(whys, c.whys) || !slices.Equal(by, c.by) || !slices.Equal(next, c.next) {
				t.Errorf("attempts %v by %v lead to %v; want %v by %v and %v", whys, by, next, c.whys, c.by, c.next)
			}
			if len(runs) != len(c.whys) {
				t.Errorf("%d attempts have %d ids", len(c.whys), len(runs))
			}
			if last := out.Last(); last.Verdict.Outcome != c.outcome || (last.Report != nil) != last.Verdict.Good() && c.name != "changed the tree" {
				t.Errorf("the last attempt came to %+v", last.Verdict)
			}
			trail := s.trail(t)
			if len(trail) != len(c.whys) || len(s.calls(t)) != len(c.whys) {
				t.Errorf("%d records and %d calls of %d attempts", len(trail), len(s.calls(t)), len(c.whys))
			}
		})
	}
}

// TestNoteOfARetry tests that a retried agent gets the reason of the rejection, in the
// words of the check that rejected it.
func TestNoteOfARetry(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Clean(), fakeagent.Clean())
	job := s.job(t)
	job.Retries = 1
	first := true
	job.Check = func(context.Context, spawner.Result) error {
		defer func() { first = false }()
		if first {
			return errors.New("the lines are counted from 0")
		}
		return nil
	}
	out, err := s.run(t, job)
	if err != nil || len(out.Results) != 2 || !out.Last().Verdict.Good() {
		t.Fatalf("%d attempts, %v", len(out.Results), err)
	}
	if got := out.Results[0]; got.Verdict.Reason != outcome.ReasonReportInvalid || got.CheckErr == nil {
		t.Errorf("the first attempt: %+v, %v", got.Verdict, got.CheckErr)
	}
	calls := s.calls(t)
	if strings.Contains(string(calls[0].Stdin), "counted from 0") || !strings.Contains(string(calls[1].Stdin), "counted from 0") {
		t.Errorf("the second prompt is\n%s", calls[1].Stdin)
	}
}

func TestAdaptersWithoutAProgram(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Clean(), fakeagent.Clean())
	job := s.job(t)
	job.Adapters = []string{"gemini", "claude"}
	s.Environ = append(s.Environ, "SWITCHYARD_GEMINI_BIN="+filepath.Join(s.Root, "none"))
	out, err := s.run(t, job)
	if err != nil || len(out.Results) != 1 || out.Results[0].Why != "fallback:not-found" || out.Results[0].Adapter != "claude" {
		t.Errorf("%+v, %v", out.Results, err)
	}
	if len(out.Skipped) != 1 || errs.CodeOf(out.Skipped[0]) != errs.SpawnBinaryMissing {
		t.Errorf("skipped: %v", out.Skipped)
	}

	job.Adapters = []string{"claude", "gemini"}
	if out, err = s.run(t, job); err != nil || len(out.Results) != 1 || out.Results[0].Why != "first" || len(out.Skipped) != 1 {
		t.Errorf("with a fallback that has none: %+v, %v", out, err)
	}
	job.Adapters = []string{"gemini"}
	if out, err = s.run(t, job); err != nil || out.Last() != nil || len(out.Skipped) != 1 {
		t.Errorf("without any program: %+v, %v", out, err)
	}
	job.Adapters = []string{"claude", "telegraph"}
	if _, err = s.run(t, job); errs.CodeOf(err) != errs.AdapterUnknown {
		t.Errorf("an adapter that nobody knows: %v", err)
	}
	if got := len(s.calls(t)); got != 2 {
		t.Errorf("%d agents ran, want 2", got)
	}
}

// TestDeadlineIsOfAllAttempts tests that a spawn's time limit covers all its attempts.
func TestDeadlineIsOfAllAttempts(t *testing.T) {
	t.Parallel()
	s := newScene(t, play("overloaded"))
	began := time.Now()
	passed := time.Duration(0)
	s.Now = func() time.Time { return began.Add(passed) }
	job := s.job(t)
	job.Timeout, job.Retries = 50*time.Second, 5
	var left []time.Duration
	job.Begin = func(_ context.Context, at spawner.Attempt) error {
		left = append(left, at.Timeout)
		passed += 20 * time.Second // the duration of the attempt
		return nil
	}
	out, err := s.run(t, job)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{50 * time.Second, 30 * time.Second, 10 * time.Second}
	if !slices.Equal(left, want) || len(out.Results) != 3 || out.Last().Next != outcome.Stop {
		t.Errorf("attempts of %v, want %v; then %s", left, want, out.Last().Next)
	}
}

// TestDeadlineBeforeARetry: the time can be over when a retry is about to start. It is then
// timed out, like every attempt that has no time left.
func TestDeadlineBeforeARetry(t *testing.T) {
	t.Parallel()
	s := newScene(t, play("overloaded"), play("hang"))
	began := time.Now()
	passed := time.Duration(0)
	s.Now = func() time.Time { return began.Add(passed) }
	job := s.job(t)
	job.Timeout, job.Retries = 50*time.Second, 5
	end := job.End
	job.End = func(ctx context.Context, res spawner.Result) error {
		passed += 50 * time.Second // the time that the record takes
		return end(ctx, res)
	}
	out, err := s.run(t, job)
	if err != nil || len(out.Skipped) > 0 || out.Last().Verdict.Reason != outcome.ReasonTimedOut || out.Last().Next != outcome.Stop {
		t.Errorf("%v, skipped %v; then %+v, %s", err, out.Skipped, out.Last().Verdict, out.Last().Next)
	}
}

func TestTimeOut(t *testing.T) {
	t.Parallel()
	s := newScene(t, play("hang"))
	job := s.job(t)
	job.Timeout, job.Retries = 300*time.Millisecond, 3
	out, err := s.run(t, job)
	if err != nil || len(out.Results) != 1 {
		t.Fatalf("%d attempts, %v", len(out.Results), err)
	}
	if r := out.Last(); r.Verdict.Reason != outcome.ReasonTimedOut || !r.Record.TimedOut || r.Record.End != "timed-out" {
		t.Errorf("%+v, %+v", r.Verdict, r.Record)
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	signal := filepath.Join(t.TempDir(), "go")
	waits := fakeagent.Clean()
	waits.Steps = append([]fakeagent.Step{{Await: &fakeagent.Await{File: signal}}}, waits.Steps...)
	s := newScene(t, waits, fakeagent.Clean())
	ours := s.spawner(t)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		if out, err := ours.Run(t.Context(), s.job(t)); err != nil || !out.Last().Verdict.Good() {
			t.Errorf("who came first: %v", err)
		}
	})
	waitUntil(t, func() bool { return len(s.calls(t)) == 1 })

	impatient := s.job(t)
	if _, err := s.run(t, impatient); errs.CodeOf(err) != errs.SpawnLocked {
		t.Errorf("who does not wait gets %v", err)
	}
	impatient.QueueTimeout = 50 * time.Millisecond
	var phases []spawner.Phase
	impatient.Observe = func(p spawner.Progress) { phases = append(phases, p.Phase) }
	if _, err := s.run(t, impatient); errs.CodeOf(err) != errs.SpawnLocked || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits too short gets %v", err)
	}
	if want := []spawner.Phase{spawner.Queued, spawner.Ended}; !slices.Equal(phases, want) {
		t.Errorf("who waits too short reports %q", phases)
	}
	if got := len(s.calls(t)); got != 1 {
		t.Errorf("%d agents ran beside each other", got-1)
	}
	patient := s.job(t)
	patient.QueueTimeout = time.Minute
	second := &scene{Options: s.Options}
	patient.Observe = func(p spawner.Progress) { second.tell("%s", p.Phase) }
	all.Go(func() {
		if out, err := ours.Run(t.Context(), patient); err != nil || !out.Last().Verdict.Good() {
			t.Errorf("who waits: %v", err)
		}
		if !slices.Equal(second.reported[:2], []string{"queued", "running"}) {
			t.Errorf("who waits is told %v", second.reported)
		}
	})
	waitUntil(t, func() bool { return second.heard("queued") })
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSpawnsRunWithEachOther(t *testing.T) {
	t.Parallel()
	const n = 3
	meets := fakeagent.Clean()
	// None of them ends before all of them have begun.
	meets.Steps = append([]fakeagent.Step{{Await: &fakeagent.Await{Calls: n}}}, meets.Steps...)
	s := newScene(t, meets)
	ours := s.spawner(t)
	job := s.job(t)
	job.Concurrency = n
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if out, err := ours.Run(t.Context(), job); err != nil || !out.Last().Verdict.Good() {
				t.Errorf("%+v, %v", out.Results, err)
			}
		})
	}
	all.Wait()
	if trail := s.trail(t); len(trail) != n {
		t.Errorf("%d records of %d runs", len(trail), n)
	}
}

// errOver is the cause of the tests' cancellations.
var errOver = errors.New("it is over")

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{nil, errOver} {
		s := newScene(t, play("hang"))
		job := s.job(t)
		job.Retries = 3
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		ours := s.spawner(t)
		go func() {
			_, err := ours.Run(ctx, job)
			done <- err
		}()
		waitUntil(t, func() bool { return len(s.calls(t)) == 1 })
		cancel(cause)
		if err := <-done; !errors.Is(err, context.Cause(ctx)) {
			t.Errorf("got %v, want %v", err, context.Cause(ctx))
		}
		trail := s.trail(t)
		if len(trail) != 1 || trail[0].Outcome != "critic-error" || trail[0].Reason != "cancelled" || trail[0].End != "cancelled" || trail[0].PID != s.calls(t)[0].PID {
			t.Errorf("cancelled for %v, the trail has %+v", cause, trail)
		}
		if s.heard("deliver critic-error") || !s.heard("end critic-error") {
			t.Errorf("what happened: %v", s.reported)
		}
	}
}

// TestRecordComesFirst tests that an output is delivered only after its spawn record is
// written, and that no task event precedes the record.
func TestRecordComesFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Clean())
	job := s.job(t)
	end, deliver := job.End, job.Deliver
	job.End = func(ctx context.Context, res spawner.Result) error {
		if trail := s.trail(t); len(trail) != 1 || trail[0].RunID != res.Run {
			t.Errorf("at its receipt, the trail has %+v", trail)
		}
		return end(ctx, res)
	}
	job.Deliver = func(res spawner.Result) error {
		line, err := os.ReadFile(filepath.Join(s.State, spawner.RunLogFile))
		if err != nil || res.LogDigest != digest.Of(line) {
			t.Errorf("what is delivered names the record %s: %v", res.LogDigest, err)
		}
		if info, err := res.Stdout.Stat(); err != nil || info.Size() != res.Record.ResponseBytes {
			t.Errorf("what is delivered is not what was recorded: %v", err)
		}
		return deliver(res)
	}
	if _, err := s.run(t, job); err != nil {
		t.Fatal(err)
	}
	if want := []string{"begin first", "running", "end clean", "deliver clean", "ended"}; !slices.Equal(slices.Compact(s.reported), want) {
		t.Errorf("%v, want %v", s.reported, want)
	}
}

func TestNoOutputWithoutARecord(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Clean())
	if err := os.MkdirAll(filepath.Join(s.State, spawner.RunLogFile), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := s.run(t, s.job(t))
	if errs.CodeOf(err) != errs.SpawnTrailFailed {
		t.Errorf("got %v", err)
	}
	if len(out.Results) != 0 || s.heard("end clean") || s.heard("deliver clean") {
		t.Errorf("results %+v after %v", out.Results, s.reported)
	}
}

// TestFailuresAroundAnAttempt tests that an error in any function around an attempt
// ends the job, and that everything is cleaned up, which the scene checks.
func TestFailuresAroundAnAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		change   func(*scene, *spawner.Job)
		code     errs.Code // "" for errOver
		calls    int
		reported []string
	}{
		{"its prompt", func(_ *scene, j *spawner.Job) {
			j.Prompt = func(spawner.Attempt) (string, error) { return "", errOver }
		}, "", 0, []string{"ended"}},
		{"its intent", func(_ *scene, j *spawner.Job) {
			j.Begin = func(context.Context, spawner.Attempt) error { return errOver }
		}, "", 0, []string{"ended"}},
		{"its receipt", func(_ *scene, j *spawner.Job) {
			j.End = func(context.Context, spawner.Result) error { return errOver }
		}, "", 1, []string{"begin first", "running", "ended"}},
		{"its delivery", func(_ *scene, j *spawner.Job) {
			j.Deliver = func(spawner.Result) error { return errOver }
		}, "", 1, []string{"begin first", "running", "end clean", "ended"}},
		{"inside of an agent", func(s *scene, _ *spawner.Job) {
			s.Environ = append(s.Environ, "SWITCHYARD_HEADLESS=1")
		}, errs.SpawnReentrant, 0, nil},
		{"no time", func(_ *scene, j *spawner.Job) { j.Timeout = 0 }, errs.SpawnJobInvalid, 0, nil},
		{"no slot", func(_ *scene, j *spawner.Job) { j.Concurrency = 0 }, errs.SpawnJobInvalid, 0, nil},
		{"no adapter", func(_ *scene, j *spawner.Job) { j.Adapters = nil }, errs.SpawnJobInvalid, 0, nil},
		{"no prompt", func(_ *scene, j *spawner.Job) { j.Prompt = nil }, errs.SpawnJobInvalid, 0, nil},
		{"no directory", func(s *scene, _ *spawner.Job) { s.Temp = filepath.Join(s.Temp, "none") }, errs.SpawnFolderFailed, 0, []string{"ended"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, fakeagent.Clean())
			temp := s.Temp
			job := s.job(t)
			c.change(s, &job)
			_, err := s.run(t, job)
			s.Temp = temp
			if errs.CodeOf(err) != c.code || c.code == "" && !errors.Is(err, errOver) {
				t.Errorf("got %v, want %q", err, c.code)
			}
			if got := len(s.calls(t)); got != c.calls || len(s.trail(t)) != c.calls {
				t.Errorf("%d agents ran, %d are on record, want %d", got, len(s.trail(t)), c.calls)
			}
			if reported := slices.Compact(s.reported); !slices.Equal(reported, c.reported) {
				t.Errorf("%v, want %v", reported, c.reported)
			}
		})
	}
}

// TestResultWithoutAProcess tests that a run without a process is recorded as not
// started, and that the next adapter is tried.
func TestResultWithoutAProcess(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Clean())
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x7fELF and no more"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Environ = append(s.Environ, "SWITCHYARD_CLAUDE_BIN="+broken)
	out, err := s.run(t, s.job(t))
	if err != nil || out.Last() != nil || len(out.Skipped) != 1 || errs.CodeOf(out.Skipped[0]) != errs.ProcessStart {
		t.Fatalf("got %+v, %v", out, err)
	}
	if len(s.results) != 1 || s.results[0].Verdict.Reason != outcome.ReasonStartFailed || s.results[0].LogDigest != "" || s.results[0].Record.PID != 0 {
		t.Errorf("its receipt is of %+v", s.results)
	}
	job := s.job(t)
	job.Adapters = []string{"claude", "codex"}
	out, err = s.run(t, job)
	if last := out.Last(); err != nil || len(out.Results) != 1 || last.Verdict.Outcome != outcome.Clean || last.Why != "fallback:config" || last.N != 2 {
		t.Errorf("the next adapter came to %+v, %v", out.Results, err)
	}
}

// TestSpawnsDoNotEndEachOther tests that the end of one spawn does not end another that
// is just starting: between fork and exec, a process has all open files of its parent.
func TestSpawnsDoNotEndEachOther(t *testing.T) {
	t.Parallel()
	const with, each = 4, 30
	s := newScene(t, fakeagent.Clean())
	ours := s.spawner(t)
	job := s.job(t)
	job.Concurrency = with
	var all sync.WaitGroup
	for range with {
		all.Go(func() {
			for range each {
				if out, err := ours.Run(t.Context(), job); err != nil || !out.Last().Verdict.Good() {
					t.Errorf("%+v, %v", out.Last().Verdict, err)
				}
			}
		})
	}
	all.Wait()
}
