package host_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// done returns how many successful runs of each role and round are on record, by a name
// such as "critic 1".
func (s *runSite) done(t testing.TB) map[string]int {
	t.Helper()
	done, names := map[string]int{}, map[string]string{}
	for _, e := range soundEvents(t, s.engine(t)) {
		if e.Task != "T" {
			continue
		}
		body, err := event.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		switch ev := body.Event.(type) {
		case *task.SpawnBegun:
			for _, i := range ev.Intents {
				names[i.Run] = fmt.Sprintf("%s %d", i.Role, i.Round)
			}
		case *task.SpawnEnded:
			if ev.Receipt.Outcome.Good() {
				done[names[ev.Receipt.Run]]++
			}
		}
	}
	return done
}

// killer is a git that kills the process that calls it: at the call of the number in the
// variable's file, before or after git has run.
const killer = `dir=${0%/*}
n=$(($(cat $dir/count 2>/dev/null) + 1))
echo $n >$dir/count
if [ $n = "$(cat $dir/before 2>/dev/null)" ]; then kill -9 $PPID; exit 1; fi
if [ $n = "$(cat $dir/after 2>/dev/null)" ]; then $git "$@" >/dev/null; kill -9 $PPID; exit 1; fi`

// TestRunGoesOnAfterAKill kills processes that drive a task: at each time that they read
// the clock, which they do before everything that they record; at each call of git, before
// it and after it; and at random. The next run ends with one commit, and no agent runs
// again whose receipt is there.
func TestRunGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the git that kills is a shell script")
	}
	// An undisturbed run says how many moments there are.
	whole := newKillSite(t)
	reads := whole.kill(t, child{})
	calls := whole.number(t, "count")
	t.Logf("a run reads the clock %d times and calls git %d times", reads, calls)
	for i, n := range exhaustive.Sample(upTo(reads), 4) {
		t.Run(fmt.Sprintf("read %d", n), func(t *testing.T) {
			t.Parallel()
			s := newKillSite(t)
			s.kill(t, child{KillAt: int64(n)})
			s.goesOn(t, i%2 == 0)
		})
	}
	for i, n := range exhaustive.Sample(upTo(calls), 4) {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprintf("%s git %d", when, n), func(t *testing.T) {
				t.Parallel()
				s := newKillSite(t)
				if err := os.WriteFile(filepath.Join(s.bin, when), []byte(strconv.Itoa(n)), 0o600); err != nil {
					t.Fatal(err)
				}
				s.kill(t, child{})
				s.goesOn(t, i%2 == 0)
			})
		}
	}
	for i := range exhaustive.Count(1, 50) {
		t.Run(fmt.Sprintf("random %d", i), func(t *testing.T) {
			t.Parallel()
			s := newKillSite(t)
			cmd := s.child(t, s.wants(child{}))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(rand.N(2 * time.Second))
			_ = cmd.Process.Kill() // It may have ended.
			_ = cmd.Wait()
			s.goesOn(t, true)
		})
	}
}

// TestRunKilledInARemoval kills a run while it removes the worktree of the merged task. The
// next run removes the rest, or begins the next round with all files.
func TestRunKilledInARemoval(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the git that kills is a shell script")
	}
	for _, goesOn := range []bool{true, false} {
		t.Run(fmt.Sprintf("goes on %t", goesOn), func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once, oneRound(fakeagent.Edits()))
			s.git(t, "branch", "trunk")
			s.replaceGit(t, `case "$*" in *"worktree unlock "*/T) kill -9 $PPID; exit 1 ;; esac`)
			if out, err := s.child(t, child{Base: "trunk", Merge: true}).CombinedOutput(); err == nil || len(out) > 0 {
				t.Fatalf("the run was not killed: %v, %s", err, out)
			}
			s.bin = ""
			if !goesOn {
				if _, err := s.engine(t).Start(t.Context(), "T", api.StartRequest{}); err != nil {
					t.Fatal(err)
				}
			}
			s.ends(t, api.RunRequest{Merge: true}, "commit", "")
			if deleted := s.git(t, "log", "--format=", "--name-only", "--diff-filter=D", "trunk"); deleted != "" {
				t.Errorf("the task has deleted %s", deleted)
			}
			worktrees := filepath.Dir(s.worktree(t))
			if left, err := os.ReadDir(worktrees); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
			if left := s.git(t, "worktree", "list") + s.git(t, "branch"); strings.Contains(left, "switchyard/") {
				t.Errorf("it left %s", left)
			}
		})
	}
}

// TestRunEndsTheHooksOfAKilledRun: a hook that went on could change the files beside the hooks of
// the next run.
func TestRunEndsTheHooksOfAKilledRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds every process of a program that was killed")
	}
	for name, hook := range map[string]string{"commit": "pre-commit", "push": "pre-push"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once+"run: {hooks: run}\n", oneRound(fakeagent.Edits()))
			remote := filepath.Join(s.home, "remote.git")
			s.git(t, "init", "-q", "--bare", "--template=", remote)
			s.git(t, "remote", "add", "origin", remote)
			if err := os.MkdirAll(s.path(".git/hooks"), 0o700); err != nil {
				t.Fatal(err)
			}
			started := filepath.Join(s.home, "started")
			writeProgram(t, s.path(".git/hooks/"+hook), "#!/bin/sh\nsleep 600 & echo $! >>"+started+"\nsetsid sleep 600 & echo $! >>"+started+"\necho end >>"+started+"\nwait\n")
			run := s.child(t, child{Push: "origin"})
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			var pids []string
			for len(pids) == 0 || pids[len(pids)-1] != "end" {
				time.Sleep(20 * time.Millisecond)
				text, _ := os.ReadFile(started)
				pids = strings.Fields(string(text))
			}
			if err := run.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = run.Wait()
			writeProgram(t, s.path(".git/hooks/"+hook), "#!/bin/sh\n")
			if out, err := s.child(t, child{Push: "origin"}).CombinedOutput(); err != nil {
				t.Fatalf("the next run fails: %v, %s", err, out)
			}
			for _, pid := range pids[:len(pids)-1] {
				if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
					t.Errorf("a process of the hook runs: %s", stat)
				}
			}
		})
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// newKillSite creates a project with the git that kills, a branch trunk that is not
// checked out, and a remote.
func newKillSite(t *testing.T) *runSite {
	s := newRunSite(t, once+"verify: test -s draft.txt\n", twoRounds())
	s.git(t, "branch", "trunk")
	remote := filepath.Join(s.home, "remote.git")
	s.git(t, "init", "-q", "--bare", "--template=", remote)
	s.git(t, "remote", "add", "origin", remote)
	s.replaceGit(t, killer)
	s.before = s.checkout(t)
	return s
}

func (s *runSite) number(t testing.TB, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.bin, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *runSite) wants(c child) child {
	c.Base, c.Push, c.Merge = "trunk", "origin", true
	return c
}

// kill drives task T in a process and returns how often it read the clock, 0 if it was
// killed.
func (s *runSite) kill(t testing.TB, c child) int {
	t.Helper()
	out, err := s.child(t, s.wants(c)).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Logf("the run ended with %s: %s", exit, exit.Stderr)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return n
}

// goesOn runs task T again after a kill and checks the end.
func (s *runSite) goesOn(t *testing.T, merges bool) {
	t.Helper()
	done := s.done(t)
	called := map[string]int{}
	for _, name := range s.called(t) {
		called[name]++
	}
	s.bin = ""
	req := api.RunRequest{Base: "trunk", Push: "origin", Merge: merges}
	r := s.ends(t, req, "commit", "")
	state := s.state(t)
	if r.Commit == "" || state.Status != task.Committed {
		t.Fatalf("the task is %s with commit %q", state.Status, r.Commit)
	}
	for _, name := range s.called(t) {
		if called[name]--; called[name] < 0 && done[name] > 0 {
			t.Errorf("%s ran again, though its receipt is there", name)
		}
	}
	for _, name := range []string{"executor 1", "critic 1", "build-fixer 2", "critic 2"} {
		if n := s.done(t)[name]; n != 1 {
			t.Errorf("%s succeeded %d times", name, n)
		}
	}
	for _, kind := range []task.Kind{task.KindStarted, task.KindBranched, task.KindCommitCreated} {
		if n := s.count(t, kind); n != 1 {
			t.Errorf("%d events %s, want 1", n, kind)
		}
	}
	if n := s.count(t, task.KindDecided); n != 2 {
		t.Errorf("%d decisions, want 2", n)
	}
	if got := s.git(t, "rev-list", "--all", "^main"); got != r.Commit {
		t.Errorf("the repository has the commits %q, want %s", got, r.Commit)
	}
	if got := s.gitIn(t, filepath.Join(s.home, "remote.git"), "for-each-ref", "--format=%(objectname)"); got != r.Commit {
		t.Errorf("the remote is at %q, want %s", got, r.Commit)
	}
	if got, want := s.git(t, "rev-parse", "trunk"), map[bool]string{true: r.Commit, false: r.Branch.Base}[r.Merge != nil]; got != want {
		t.Errorf("trunk is at %s, want %s", got, want)
	}
	s.git(t, "branch", "-f", "trunk", r.Branch.Base)
	if after := s.checkout(t); after != s.before {
		t.Errorf("the checkout was\n%s\nand is\n%s", s.before, after)
	}
	// Another run has nothing to do.
	n := len(s.calls(t))
	if again := s.ends(t, req, "commit", ""); again.Commit != r.Commit || len(s.calls(t)) != n {
		t.Errorf("another run ends with %s and %d more calls", again.Commit, len(s.calls(t))-n)
	}
}
