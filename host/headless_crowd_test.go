package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// crowd is the number of concurrent rounds.
func crowd() int { return exhaustive.Count(16, 50) }

// gone fails if an agent has outlived its round or left a lease record.
func (s site) gone(t *testing.T) {
	t.Helper()
	records, err := filepath.Glob(s.path(".switchyard/run/*.json"))
	if err != nil || len(records) > 0 {
		t.Errorf("slots are taken still: %v %v", records, err)
	}
	if runtime.GOOS != "linux" {
		return // Process numbers are not reliable there.
	}
	for _, call := range s.calls(t) {
		// A number may have been reused, but hardly by this program.
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", call.PID)); err == nil && program == s.agent {
			t.Errorf("agent %d is there still", call.PID)
		}
	}
}

// together runs one round of each task concurrently, with several engines, and returns the
// decisions and the errors in the order of the tasks.
func (s site) together(t *testing.T, tasks []string) ([]api.RoundResult, []error) {
	t.Helper()
	const engines = 5
	decisions, failures := make([]api.RoundResult, len(tasks)), make([]error, len(tasks))
	var all sync.WaitGroup
	for i := range engines {
		e := s.engine(t, time.Now)
		for at := i; at < len(tasks); at += engines {
			all.Go(func() { decisions[at], failures[at] = e.Round(t.Context(), tasks[at], host.Request{}) })
		}
	}
	all.Wait()
	return decisions, failures
}

func TestCrowdOfTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t, "spawn: {retries: 0, concurrency: 8}\n", fakeagent.Clean())
	tasks := make([]string, crowd())
	for i := range tasks {
		tasks[i] = fmt.Sprintf("T-%02d", i)
	}
	decisions, failures := s.together(t, tasks)
	for i, err := range failures {
		if err != nil || decisions[i].TaskID != tasks[i] || decisions[i].NextAction != "commit" {
			t.Errorf("%s: %s of %s, %v", tasks[i], decisions[i].NextAction, decisions[i].TaskID, err)
		}
		want := []string{"spawn-begun", "spawn-ended", "agent-stamped", "round-decided"}
		if got := s.sound(t, tasks[i]); !slices.Equal(got, want) {
			t.Errorf("%s has the events %v", tasks[i], got)
		}
	}
	if got := len(s.calls(t)); got != crowd() {
		t.Errorf("%d agents ran, want %d", got, crowd())
	}
	if trail := s.trailOf(t); len(trail) != crowd() {
		t.Errorf("the trail has %d lines, want %d", len(trail), crowd())
	} else {
		runs := make(map[string]bool)
		for _, line := range trail {
			runs[runOf(t, line)] = true
		}
		if len(runs) != crowd() {
			t.Errorf("the trail has %d runs, want %d", len(runs), crowd())
		}
	}
	s.gone(t)
}

// TestCrowdOfOneTask checks that only one of many commands runs a task's round. The others
// fail with round-running or run the next round.
func TestCrowdOfOneTask(t *testing.T) {
	t.Parallel()
	s := newSite(t, "policy: routing@1.1.0\nmax_rounds: 100\nspawn: {retries: 0}\n", fakeagent.Finds(wrong()))
	decisions, failures := s.together(t, slices.Repeat([]string{"T"}, crowd()))
	var rounds []int
	for i, err := range failures {
		switch code := errs.CodeOf(err); {
		case err == nil:
			rounds = append(rounds, decisions[i].Round)
		case code != errs.RoundRunning && code != errs.RoundShifted:
			t.Errorf("a command says %v", err)
		}
	}
	slices.Sort(rounds)
	for i, round := range rounds {
		if round != i+1 {
			t.Fatalf("the rounds that were decided are %v", rounds)
		}
	}
	if len(rounds) == 0 {
		t.Fatal("nobody ran the round")
	}
	if got := s.count(t, task.KindDecided); got != len(rounds) {
		t.Errorf("%d decisions are recorded, and %d were returned", got, len(rounds))
	}
	if got := len(s.calls(t)); got != len(rounds) {
		t.Errorf("%d agents ran in %d rounds", got, len(rounds))
	}
	if state := s.state(t); state.Round != len(rounds)+1 || len(state.OpenRuns()) > 0 || state.Spent.Runs != len(rounds) {
		t.Errorf("after %d rounds: round %d, open %v, %d runs", len(rounds), state.Round, state.OpenRuns(), state.Spent.Runs)
	}
	s.gone(t)
}
