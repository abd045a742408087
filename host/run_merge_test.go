package host_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestRunMergeFails: a conflict or a red merged tree leaves the base and the task's branch
// as they were, and another run merges once the base allows it.
func TestRunMergeFails(t *testing.T) {
	t.Parallel()
	for reason, file := range map[string]string{"merge-conflict": "draft.txt", "merge-red": "red.txt"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once+"verify: test ! -e red.txt\n", oneRound(fakeagent.Edits()))
			s.git(t, "branch", "trunk")
			r := s.ends(t, api.RunRequest{Base: "trunk"}, "commit", "")
			// The base goes on meanwhile.
			other := t.TempDir()
			s.git(t, "worktree", "add", "-q", other, "trunk")
			if err := os.WriteFile(other+"/"+file, []byte("other\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.gitIn(t, other, "add", "-A")
			s.gitIn(t, other, "commit", "-q", "-m", "other")
			s.git(t, "worktree", "remove", other)
			trunk := s.git(t, "rev-parse", "trunk")
			for range 2 { // Another run tries again.
				s.ends(t, api.RunRequest{Merge: true}, "stuck", reason)
				if got := s.git(t, "rev-parse", "trunk"); got != trunk {
					t.Errorf("trunk is at %s, and was at %s", got, trunk)
				}
			}
			if state := s.state(t); state.Status != task.Stuck || s.git(t, "rev-parse", "switchyard/T") != r.Commit {
				t.Errorf("the task is %s, and its branch has moved", state.Status)
			}
			s.git(t, "branch", "-f", "trunk", r.Branch.Base)
			s.ends(t, api.RunRequest{Merge: true}, "commit", "")
			if got := s.git(t, "rev-parse", "trunk"); got != r.Commit {
				t.Errorf("trunk is at %s, want %s", got, r.Commit)
			}
		})
	}
}

// TestRunMergeIntoABranchThatIsGone: without its target no merge begins, and one that has
// begun waits until the branch is there again.
func TestRunMergeIntoABranchThatIsGone(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, begun := range []bool{false, true} {
		s := newRunSite(t, once, oneRound(fakeagent.Edits()))
		s.git(t, "branch", "trunk")
		r := s.ends(t, api.RunRequest{Base: "trunk"}, "commit", "")
		status, req := task.Committed, api.RunRequest{Merge: true}
		if begun {
			other := t.TempDir()
			s.git(t, "worktree", "add", "-q", other, "trunk")
			s.fails(t, req, errs.BranchCheckedOut)
			s.git(t, "worktree", "remove", other)
			status, req = task.Merging, api.RunRequest{}
		}
		s.git(t, "branch", "-D", "trunk")
		failed := s.fails(t, req, errs.MergeNoBranch)
		again := fmt.Sprintf("git branch trunk %.12s", r.Branch.Base)
		if !strings.Contains(failed.Hint, again) || !strings.Contains(failed.Hint, r.Branch.Name) {
			t.Errorf("the hint is %q, want %q and %s", failed.Hint, again, r.Branch.Name)
		}
		if state := s.state(t); state.Status != status || (state.Merge != nil) != begun {
			t.Errorf("the task is %s with the merge %v, want %s", state.Status, state.Merge, status)
		}
		s.git(t, strings.Fields(again)[1:]...)
		s.ends(t, req, "commit", "")
		if got := s.git(t, "rev-parse", "trunk"); got != r.Commit {
			t.Errorf("trunk is at %s, want %s", got, r.Commit)
		}
	}
}

// TestRunMergesNothingOfOthers: what somebody committed on top of a task's commit, or into a
// merge of it by hand, is not recorded as the task's merge.
func TestRunMergesNothingOfOthers(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.git(t, "branch", "trunk")
	r := s.ends(t, api.RunRequest{Base: "trunk"}, "commit", "")
	other := s.git(t, "commit-tree", "-m", "other", "-p", "trunk", "-p", r.Commit, "trunk^{tree}")
	s.git(t, "update-ref", "refs/heads/trunk", other)
	r = s.ends(t, api.RunRequest{Merge: true}, "commit", "")
	if r.Merge == nil || r.Merge.Commit != r.Commit {
		t.Errorf("the merge is %+v of %s, and trunk is at %s", r.Merge, r.Commit, other)
	}
}

// TestRunAfterAMerge: a task that was merged starts again from its commit, whatever the
// checkout is at, and its draft is compared with that.
func TestRunAfterAMerge(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.git(t, "branch", "trunk")
	first := s.ends(t, api.RunRequest{Base: "trunk", Merge: true}, "commit", "")
	s.git(t, "commit", "-q", "--allow-empty", "-m", "other")
	if again, err := s.engine(t).Start(t.Context(), "T", api.StartRequest{}); err != nil || again.Base != first.Commit {
		t.Errorf("the draft is compared with %q, %v, want %s", again.Base, err, first.Commit)
	}
	r := s.ends(t, api.RunRequest{Merge: true}, "commit", "")
	if got := s.git(t, "rev-parse", r.Commit+"^", "trunk"); got != first.Commit+"\n"+r.Commit {
		t.Errorf("the commit's parent and trunk are %q, want %s and %s", got, first.Commit, r.Commit)
	}
	s.wasCalled(t, "executor 1", "critic 1", "executor 2", "critic 2")
}

// TestRunMergeStopped: a merge that a person stops moves nothing, and is not verified if it
// was stopped before.
func TestRunMergeStopped(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, verified := range []bool{true, false} {
		s := newRunSite(t, once, oneRound(fakeagent.Edits()))
		s.git(t, "branch", "trunk")
		r := s.ends(t, api.RunRequest{Base: "trunk"}, "commit", "")
		count := s.home + "/count"
		req := api.RunRequest{Merge: true, Verify: "echo x >>'" + count + "'"}
		var ended api.RunResult
		var err error
		if verified {
			ended, err = s.slowRun(t, req, "*--is-ancestor*", func() { s.stop(t) })
		} else {
			other := t.TempDir()
			s.git(t, "worktree", "add", "-q", other, "trunk")
			s.fails(t, api.RunRequest{Merge: true}, errs.BranchCheckedOut) // It goes on with the merge.
			s.git(t, "worktree", "remove", other)
			req.Observe = func(ev api.RunEvent) {
				if ev.Event == api.RunResumed {
					s.stop(t)
				}
			}
			ended, err = s.engine(t).Run(t.Context(), "T", req)
		}
		if err != nil || ended.NextAction != "stuck" || ended.Reason != "enough" {
			t.Errorf("the run ends with %s (%s), %v", ended.NextAction, ended.Reason, err)
		}
		if got := s.git(t, "rev-parse", "trunk"); got != r.Branch.Base {
			t.Errorf("trunk is at %s, and was at %s", got, r.Branch.Base)
		}
		if text, _ := os.ReadFile(count); (string(text) == "x\n") != verified {
			t.Errorf("the verification of the merge ran as %q", text)
		}
	}
}

// TestRunVerifiesAMergeAsItsDraft: a command of the caller runs as often for the merged
// files as for the draft.
func TestRunVerifiesAMergeAsItsDraft(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once+"verify: {command: \"false\", runs: 2}\n", oneRound(fakeagent.Edits()))
	s.git(t, "branch", "trunk")
	count := s.home + "/count"
	s.ends(t, api.RunRequest{Base: "trunk", Merge: true, Verify: "echo x >>'" + count + "'"}, "commit", "")
	if text, err := os.ReadFile(count); string(text) != "x\nx\nx\nx\n" {
		t.Errorf("the command ran as %q, %v, want twice for the draft and twice for the merge", text, err)
	}
}

// TestRunPushFails: a remote that does not exist is found before anything runs. If one cannot
// be reached, the commit stays, and the next run pushes it.
func TestRunPushFails(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.fails(t, api.RunRequest{Push: "origin"}, errs.RemoteUnknown)
	if _, err := s.engine(t).Task(t.Context(), "T"); errs.CodeOf(err) != errs.TaskNotFound {
		t.Errorf("the task was recorded: %v", err)
	}
	s.git(t, "remote", "add", "origin", s.home+"/remote.git")
	s.fails(t, api.RunRequest{Push: "origin"}, errs.PushFailed)
	s.committed(t, 1)
	s.git(t, "init", "-q", "--bare", "--template=", s.home+"/remote.git")
	r := s.ends(t, api.RunRequest{Push: "origin", Merge: false}, "commit", "")
	if got := s.gitIn(t, s.home+"/remote.git", "rev-parse", "switchyard/T"); got != r.Commit {
		t.Errorf("the remote is at %s, want %s", got, r.Commit)
	}
}

// TestRunWithHooks: hooks run if the project wants it, and one that refuses is no end.
func TestRunWithHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, hook string
		code         errs.Code
	}{
		"skipped": {"", "exit 1", ""},
		"run":     {"run: {hooks: run}\n", "exit 0", ""},
		"refuses": {"run: {hooks: run}\n", "echo no; exit 1", errs.HookRefused},
		"changes": {"run: {hooks: run}\n", "echo x >draft.txt; git add draft.txt", errs.HookChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once+c.config, oneRound(fakeagent.Edits()))
			hooks := s.path(".git/hooks")
			if err := os.MkdirAll(hooks, 0o700); err != nil {
				t.Fatal(err)
			}
			writeProgram(t, hooks+"/pre-commit", "#!/bin/sh\n"+c.hook+"\n")
			if c.code != "" {
				s.fails(t, api.RunRequest{}, c.code)
				if state := s.state(t); state.Status != task.Committed || state.Commit != nil {
					t.Errorf("the task is %s with commit %v", state.Status, state.Commit)
				}
				if err := os.Remove(hooks + "/pre-commit"); err != nil {
					t.Fatal(err)
				}
				if name == "changes" {
					if err := os.WriteFile(s.worktree(t)+"/draft.txt", []byte("# round 1\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			s.ends(t, api.RunRequest{}, "commit", "")
			s.committed(t, 1)
			s.wasCalled(t, "executor 1", "critic 1")
		})
	}
}
