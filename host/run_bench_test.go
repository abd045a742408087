//go:build unix

package host_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// BenchmarkRun measures Engine.Run over 5 rounds with agents that answer at once, in a
// repository of 10,000 files. Per round, host-ms is the time that passes while no agent
// runs, cpu-ms is the processor time of this process, and children-ms that of agents and
// git. later-ms is host-ms of the rounds after the first, without the commit: the first one
// checks out all files and reads them, and the commit adds them.
func BenchmarkRun(b *testing.B) {
	const rounds = 5
	finds := func(round int) fakeagent.Scenario {
		f := wrong()
		f.Remediation = fmt.Sprintf("Test case %d", round)
		return fakeagent.Finds(f)
	}
	s := newRunSite(b, once+"verify: \"true\"\n", roles{
		"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()},
		"critic": {finds(1), finds(2), finds(3), finds(4), fakeagent.Clean()},
	})
	s.addFiles(b, 10_000)
	e := s.engine(b)
	var agents, first, later time.Duration
	observe := func(ev api.RunEvent) {
		switch {
		case ev.Agent != nil:
			agents += time.Duration(ev.Agent.DurationMS) * time.Millisecond
		case ev.Event == api.RunDecided && ev.Round == 1:
			first = b.Elapsed() - agents
		case ev.Event == api.RunDecided && ev.Round == rounds:
			later += b.Elapsed() - agents - first
		}
	}
	own, children := processorTime(b, syscall.RUSAGE_SELF), processorTime(b, syscall.RUSAGE_CHILDREN)
	n := 0
	for b.Loop() {
		n++
		r, err := e.Run(b.Context(), fmt.Sprintf("T-%d", n), api.RunRequest{Prompt: runPrompt, MaxRounds: rounds, Observe: observe})
		if err != nil || r.NextAction != "commit" || r.Round != rounds {
			b.Fatalf("the run ends with %s in round %d: %v", r.NextAction, r.Round, err)
		}
	}
	perRound := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(n*rounds) }
	b.ReportMetric(perRound(b.Elapsed()-agents), "host-ms/round")
	b.ReportMetric(perRound(later)*rounds/(rounds-1), "later-ms/round")
	b.ReportMetric(perRound(processorTime(b, syscall.RUSAGE_SELF)-own), "cpu-ms/round")
	b.ReportMetric(perRound(processorTime(b, syscall.RUSAGE_CHILDREN)-children), "children-ms/round")
}

// BenchmarkRunTasks measures 8 tasks of one round, whose agents take a second each.
func BenchmarkRunTasks(b *testing.B) {
	const many = 8
	second := fakeagent.Step{Sleep: fakeagent.Duration(time.Second)}
	critic := fakeagent.Clean()
	critic.Steps = append([]fakeagent.Step{second}, critic.Steps...)
	s := newRunSite(b, once, roles{"executor": {fakeagent.Edits(second)}, "critic": {critic}})
	e := s.engine(b)
	n := 0
	var alone time.Duration
	for _, jobs := range []int{1, many} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for b.Loop() {
				n++
				host.RunTasks(b.Context(), e, tasks(fmt.Sprintf("T-%d-", n), many), jobs, func(r api.RunResult) {
					if r.NextAction != "commit" {
						b.Errorf("task %s ends with %s: %v", r.TaskID, r.NextAction, r.Error)
					}
				})
			}
			took := b.Elapsed() / time.Duration(b.N)
			if jobs == 1 {
				alone = took
			}
			b.ReportMetric(alone.Seconds()/took.Seconds(), "times-jobs=1")
		})
	}
}

// addFiles commits so many files, in directories of 100.
func (s *runSite) addFiles(t testing.TB, files int) {
	t.Helper()
	for i := range files {
		dir := s.path(fmt.Sprintf("dir%d", i/100))
		if i%100 == 0 {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s.write(t, fmt.Sprintf("dir%d/file%d.go", i/100, i), fmt.Sprintf("package p // %d\n", i))
	}
	s.git(t, "config", "gc.auto", "0") // It would go on beside what is measured.
	s.git(t, "add", "-A")
	s.git(t, "commit", "-q", "-m", "files")
	s.git(t, "gc", "-q")
	// Git reads files again that are as new as its index, to the second.
	time.Sleep(1100 * time.Millisecond)
	s.git(t, "status")
}

// processorTime returns the time that processes have used, in user and system mode.
func processorTime(b *testing.B, who int) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(who, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(syscall.TimevalToNsec(r.Utime) + syscall.TimevalToNsec(r.Stime))
}
