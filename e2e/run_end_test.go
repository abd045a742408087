package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// limitedRun reaches a usage limit in the review.
func (r *rig) limitedRun(t *testing.T) {
	t.Parallel()
	r.needs(t, "claude")
	var limits, drafts atomic.Int32
	until, state := time.Now().Add(2*time.Hour), t.TempDir()
	work := worker(state)
	p := r.newRepository(t, r.model.url("run-limited", func(q request) reply {
		switch role := roleOf(q.Text); {
		case role == "critic" && limits.Add(1) == 1:
			return reply{until: until}
		case role == "executor" && len(q.Results) == 2:
			drafts.Add(1)
		}
		return work(q)
	}), config("claude"), state)
	p.subscribe()
	parked := p.run(t, 16, "T-1", "--prompt", "Rename the package to b.")[0]
	if parked.NextAction != "parked" || parked.Round != 1 || parked.Until.Sub(until).Abs() > 5*time.Minute {
		t.Errorf("%s in round %d until %v, and not %v", parked.NextAction, parked.Round, parked.Until, until)
	}
	asked := r.model.asked("run-limited")
	p.run(t, 16, "T-1")
	if n := r.model.asked("run-limited"); n != asked {
		t.Errorf("a parked task has asked the model %d times", n-asked)
	}
	p.says(t, "resume", "T-1")
	p.committed(t, p.run(t, 0, "T-1")[0], 1)
	if n := drafts.Load(); n != 1 {
		t.Errorf("the executor has ended %d times", n)
	}
}

// interruptedRun is interrupted while the executor works, and again in the review.
func (r *rig) interruptedRun(t *testing.T) {
	t.Parallel()
	r.needs(t, "claude")
	var executors, critics, drafts atomic.Int32
	reached, state := make(chan struct{}, 1), t.TempDir()
	work := worker(state)
	p := r.newRepository(t, r.model.url("run-interrupted", func(q request) reply {
		role, step := roleOf(q.Text), len(q.Results)
		switch {
		case role == "executor" && step == 1 && executors.Add(1) == 1, role == "critic" && step == 1 && critics.Add(1) == 1:
			reached <- struct{}{}
			return reply{stall: true}
		case role == "executor" && step == 2:
			drafts.Add(1)
		}
		return work(q)
	}), config("claude"), state)
	for range 2 {
		cmd := p.command(t.Context(), "run", "T-1", "--prompt", "Rename the package to b.")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, reached)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || !exited(err) || !strings.Contains(out.String(), "[interrupted]") {
			t.Errorf("it ends with %v\n%s", err, out.String())
		}
		if left := p.processes(); len(left) > 0 {
			t.Errorf("processes %d are left", left)
		}
		if commits := p.git(t, "rev-list", "HEAD..switchyard/T-1"); commits != "" {
			t.Errorf("there are commits %s", commits)
		}
	}
	p.committed(t, p.run(t, 0, "T-1")[0], 1)
	p.committed(t, p.run(t, 0, "T-1")[0], 1)
	if n := drafts.Load(); n != 1 {
		t.Errorf("the executor has ended %d times", n)
	}
}

// severalTasks runs three tasks, two at a time. The first in the file waits for another.
func (r *rig) severalTasks(t *testing.T) {
	t.Parallel()
	r.needs(t, "claude")
	state := t.TempDir()
	p := r.newRepository(t, r.model.url("run-tasks", worker(state)), config("claude"), state)
	tasks := filepath.Join(p.dir, ".git", "tasks.yaml") // Git does not see it there.
	p.put(t, tasks, `tasks:
  - {id: T-3, prompt: Rename the package to b., depends_on: [T-1]}
  - {id: T-1, prompt: Rename the package to b., verify: grep 'package b' a.go}
  - {id: T-2, prompt: Rename the package to b.}
`)
	at := map[string]int{}
	for i, result := range p.run(t, 0, "--tasks", tasks, "--jobs", "2") {
		at[result.TaskID] = i
		p.committed(t, result, 1)
	}
	if len(at) != 3 || at["T-3"] < at["T-1"] {
		t.Errorf("the tasks ended as %v", at)
	}
}
