package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestRunByHand: a person makes a draft in the worktree, and may commit it.
func TestRunByHand(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, commits := range []bool{false, true} {
		s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {found("stuck-detected"), fakeagent.Clean()}})
		r := s.ends(t, api.RunRequest{}, "stuck", "stuck-finding")
		if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Manual}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.Branch.Worktree, "mine.txt"), []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		parent := r.Branch.Base
		if commits {
			s.gitIn(t, r.Branch.Worktree, "add", "-A")
			s.gitIn(t, r.Branch.Worktree, "commit", "-q", "-m", "by hand")
			parent = s.gitIn(t, r.Branch.Worktree, "rev-parse", "HEAD")
			if err := os.WriteFile(filepath.Join(r.Branch.Worktree, "more.txt"), []byte("more\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		done := s.ends(t, api.RunRequest{}, "commit", "no-findings")
		s.wasCalled(t, "executor 1", "critic 1", "critic 2")
		if got := s.git(t, "rev-parse", done.Commit+"^"); got != parent {
			t.Errorf("the commit's parent is %s, want %s", got, parent)
		}
		if got := s.git(t, "show", done.Commit+":mine.txt"); got != "mine" {
			t.Errorf("the commit has %q", got)
		}
		if got := s.gitIn(t, r.Branch.Worktree, "status", "--porcelain"); got != "" {
			t.Errorf("the worktree has changes: %s", got)
		}
	}
}

// TestRunCommitByHandAfterAReview: a commit of a person between the review and the commit of
// a manual round is not undone.
func TestRunCommitByHandAfterAReview(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {found("stuck-detected"), fakeagent.Clean()}})
	tree := s.ends(t, api.RunRequest{}, "stuck", "stuck-finding").Branch.Worktree
	if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Manual}); err != nil {
		t.Fatal(err)
	}
	s.git(t, "config", "commit.gpgSign", "true")
	s.git(t, "config", "gpg.program", "false")
	s.fails(t, api.RunRequest{}, errs.SigningFailed)
	s.git(t, "config", "commit.gpgSign", "false")
	if err := os.WriteFile(filepath.Join(tree, "mine.txt"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.gitIn(t, tree, "add", "mine.txt")
	s.gitIn(t, tree, "commit", "-q", "-m", "by hand")
	mine := s.gitIn(t, tree, "rev-parse", "HEAD")
	s.fails(t, api.RunRequest{}, errs.BranchMoved)
	if got := s.gitIn(t, tree, "rev-parse", "HEAD"); got != mine {
		t.Errorf("the branch is at %s, want %s", got, mine)
	}
	s.gitIn(t, tree, "rm", "-q", "mine.txt")
	s.gitIn(t, tree, "commit", "-q", "-m", "removed")
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
	s.wasCalled(t, "executor 1", "critic 1", "critic 2")
}

// TestRunRefusesARepository checks that nothing is recorded and no agent runs if the
// repository or the request does not allow it, and that the task begins once it does.
func TestRunRefusesARepository(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*testing.T, *runSite)
		req   api.RunRequest
		code  errs.Code
	}{
		"none": {func(t *testing.T, s *runSite) { s.remove(t, ".git") }, api.RunRequest{}, errs.RepositoryMissing},
		"bare": {func(t *testing.T, s *runSite) { s.git(t, "config", "core.bare", "true") }, api.RunRequest{}, errs.RepositoryBare},
		"no commit": {func(t *testing.T, s *runSite) {
			s.remove(t, ".git")
			s.git(t, "init", "-q", "--template=")
		}, api.RunRequest{}, errs.RepositoryEmpty},
		"no author": {func(t *testing.T, s *runSite) {
			s.git(t, "config", "user.useConfigOnly", "true")
			if err := os.Remove(filepath.Join(s.home, ".gitconfig")); err != nil {
				t.Fatal(err)
			}
		}, api.RunRequest{}, errs.AuthorUnknown},
		"base unknown":      {nil, api.RunRequest{Base: "elsewhere"}, errs.RevisionUnknown},
		"base, hostile":     {nil, api.RunRequest{Base: "--upload-pack=x"}, errs.RevisionUnknown},
		"no home":           {func(t *testing.T, s *runSite) { s.home = "" }, api.RunRequest{}, errs.WorktreesNoHome},
		"no git":            {func(t *testing.T, s *runSite) { s.only = t.TempDir() }, api.RunRequest{}, errs.GitMissing},
		"no agent":          {func(t *testing.T, s *runSite) { s.agent = filepath.Join(s.home, "none") }, api.RunRequest{}, errs.SpawnBinaryMissing},
		"base, no agent":    {func(t *testing.T, s *runSite) { s.agent = filepath.Join(s.home, "none") }, api.RunRequest{Base: "elsewhere"}, errs.RevisionUnknown},
		"branch exists":     {func(t *testing.T, s *runSite) { s.git(t, "branch", "switchyard/T") }, api.RunRequest{}, errs.BranchExists},
		"branch in the way": {func(t *testing.T, s *runSite) { s.git(t, "branch", "switchyard") }, api.RunRequest{}, errs.BranchExists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once, oneRound(fakeagent.Edits()))
			if c.spoil != nil {
				c.spoil(t, s)
			}
			s.fails(t, c.req, c.code)
			s.wasCalled(t)
			if state := s.state(t); state.Branch != nil && state.Branch.Created {
				t.Errorf("the task has branch %+v", state.Branch)
			}
		})
	}
}

func (s *runSite) remove(t testing.TB, name string) {
	t.Helper()
	if err := os.RemoveAll(s.path(name)); err != nil {
		t.Fatal(err)
	}
}

// TestRunNeedsATextAndATask provokes what a run refuses before its first step.
func TestRunNeedsATextAndATask(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	if _, err := s.engine(t).Run(t.Context(), "T", api.RunRequest{}); errs.CodeOf(err) != errs.TaskNoText {
		t.Errorf("a new task without a text gives %v", err)
	}
	if _, err := s.engine(t).Run(t.Context(), "..", api.RunRequest{Prompt: runPrompt}); errs.CodeOf(err) != errs.TaskInvalidID {
		t.Errorf("a bad id gives %v", err)
	}
	if _, err := s.engine(t).Start(t.Context(), "T", api.StartRequest{}); err != nil {
		t.Fatal(err)
	}
	s.fails(t, api.RunRequest{}, errs.TaskNoBranch)
}

// TestRunKeepsItsText: another text for the same task has no effect, which is said.
func TestRunKeepsItsText(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.ends(t, api.RunRequest{Prompt: "Add a login."}, "commit", "")
	for text, said := range map[string]bool{"Add a login.": false, "Add a logout.": true} {
		before := len(s.events.of(api.RunNotice))
		s.ends(t, api.RunRequest{Prompt: text}, "commit", "")
		if notices := s.events.of(api.RunNotice)[before:]; (len(notices) == 1) != said {
			t.Errorf("%q gives the notices %+v", text, notices)
		}
	}
}

// TestRunOwnsItsTask: single rounds and commits are refused for a task that has a branch.
func TestRunOwnsItsTask(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Presets()["auth"]))
	s.fails(t, api.RunRequest{}, errs.SpawnAuth)
	if _, err := s.engine(t).Commit(t.Context(), "T", api.CommitRequest{Force: &task.Force{Reason: "I want it"}}); errs.CodeOf(err) != errs.TaskNeedsRun {
		t.Errorf("a commit by hand gives %v", err)
	}
	if _, err := s.engine(t).Round(t.Context(), "T", request(clean)); errs.CodeOf(err) != errs.TaskNeedsRun {
		t.Errorf("a round with a report that commits gives %v", err)
	}
	s.play(t, oneRound(fakeagent.Edits()))
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 1)
}

// TestRunOwnsItsTaskWithAgents: a report by hand commits nothing either if the project names
// agents, whose rounds take another way.
func TestRunOwnsItsTaskWithAgents(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, "spawn: {retries: 0, agents: {critic: {adapter: claude}}}\naudit: {agents: []}\n", roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Presets()["auth"]}})
	s.fails(t, api.RunRequest{}, errs.SpawnAuth)
	if d, err := s.engine(t).Round(t.Context(), "T", request(clean)); errs.CodeOf(err) != errs.TaskNeedsRun {
		t.Errorf("a round with a report that commits gives %s, %v", d.NextAction, err)
	}
	s.play(t, oneRound(fakeagent.Edits()))
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 1)
	s.wasCalled(t, "critic 1")
}

// TestRunFromADetachedHead: a task that starts from a detached HEAD runs, and has no branch
// to be merged into.
func TestRunFromADetachedHead(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.git(t, "checkout", "-q", "--detach")
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 1)
	s.fails(t, api.RunRequest{Merge: true}, errs.MergeNoBranch)
	s.committed(t, 1)
}

// TestRunWhereFilesAreInTheWay: a directory at the worktree's path is left alone.
func TestRunWhereFilesAreInTheWay(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Presets()["auth"]))
	s.fails(t, api.RunRequest{}, errs.SpawnAuth)
	tree := s.worktree(t)
	s.git(t, "worktree", "unlock", tree)
	s.git(t, "worktree", "remove", tree)
	if err := os.MkdirAll(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "precious"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.fails(t, api.RunRequest{}, errs.WorktreeExists)
	if _, err := os.Stat(filepath.Join(tree, "precious")); err != nil {
		t.Error(err)
	}
	if err := os.Rename(tree, tree+"-moved"); err != nil {
		t.Fatal(err)
	}
	s.play(t, oneRound(fakeagent.Edits()))
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 1)
}

// TestRunOfASubfolder: the project must be the whole repository.
func TestRunOfASubfolder(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	inner := filepath.Join(s.root, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	s.root = inner
	s.write(t, project.ConfigFile, once)
	s.fails(t, api.RunRequest{}, errs.RepositoryNested)
}

// TestRunWithSubmodules says which are not checked out.
func TestRunWithSubmodules(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.git(t, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.root, "sub")
	s.git(t, "commit", "-q", "-m", "sub")
	s.ends(t, api.RunRequest{}, "commit", "")
	state := s.committed(t, 1)
	if notices := s.events.of(api.RunNotice); !slices.ContainsFunc(notices, func(ev api.RunEvent) bool {
		return strings.Contains(ev.Message, "submodules") && strings.Contains(ev.Message, "sub")
	}) {
		t.Errorf("the notices are %+v", notices)
	}
	if got := s.git(t, "diff", "--name-only", "main", state.Commit.SHA); got != "draft.txt" {
		t.Errorf("the commit changes %q", got)
	}
}

// TestRunTwiceAtOnce: one of two runs of a task works, and the other is refused or finds it
// done.
func TestRunTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, twoRounds())
	var wait sync.WaitGroup
	for range 2 {
		e := s.engine(t)
		wait.Go(func() {
			r, err := e.Run(t.Context(), "T", api.RunRequest{Prompt: runPrompt})
			if r.NextAction != "commit" && errs.CodeOf(err) != errs.RoundRunning {
				t.Errorf("a run ends with %s, %v", r.NextAction, err)
			}
		})
	}
	wait.Wait()
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	s.wasCalled(t, "executor 1", "critic 1", "build-fixer 2", "critic 2")
}

// TestRunDuringAnother: only one run drives a task, also before it runs an agent. Another
// would otherwise merge the task and remove the worktree, which the first run has looked at.
func TestRunDuringAnother(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, roles{"executor": {{}}})
	s.fails(t, api.RunRequest{}, errs.SpawnFailed)
	s.play(t, oneRound(fakeagent.Edits()))
	if _, err := s.slowRun(t, api.RunRequest{}, "*", func() { s.fails(t, api.RunRequest{Merge: true}, errs.RoundRunning) }); err != nil {
		t.Errorf("the first run ends with %v", err)
	}
	s.committed(t, 1)
	s.wasCalled(t, "executor 1", "critic 1")
}

// TestRunIsNotRestartedDuringItsCommit: the branch would have a commit that is not on record, and
// the run of the new round would find the branch moved.
func TestRunIsNotRestartedDuringItsCommit(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	_, err := s.slowRun(t, api.RunRequest{}, "*commit-tree*", func() {
		force := &task.Force{Reason: "again", By: "tester"}
		if _, err := s.engine(t).Start(t.Context(), "T", api.StartRequest{Force: force}); errs.CodeOf(err) != errs.RoundRunning {
			t.Errorf("the restart says %v, want %s", err, errs.RoundRunning)
		}
	})
	if err != nil {
		t.Errorf("the run ends with %v", err)
	}
	s.committed(t, 1)
}

// TestRunAfterAnotherStarted: another run carries out the whole task while this one looks at
// the repository.
func TestRunAfterAnotherStarted(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, twoRounds())
	r, err := s.slowRun(t, api.RunRequest{}, "*--symbolic-full-name*", func() { s.ends(t, api.RunRequest{}, "commit", "") })
	if err != nil || r.NextAction != "commit" {
		t.Errorf("the later run ends with %s, %v", r.NextAction, err)
	}
	s.committed(t, 2)
}

// stop makes task T stuck, as its user would.
func (s *runSite) stop(t testing.TB) {
	t.Helper()
	if _, err := s.engine(t).Stop(t.Context(), "T", api.StopRequest{Reason: "enough"}); err != nil {
		t.Error(err)
	}
}

// TestRunStopped: a run ends with stuck if a person stops the task, whatever runs then.
func TestRunStopped(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"executor", "verification", "critic"} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			critic := fakeagent.Clean()
			critic.Steps = append([]fakeagent.Step{runs("git", "-c", "a.b=critic", "version")}, critic.Steps...)
			s := newRunSite(t, "spawn: {retries: 0, confine: off}\nverify: {command: git -c a.b=verification version, confine: off}\n",
				roles{"executor": {fakeagent.Edits(runs("git", "-c", "a.b=executor", "version"))}, "critic": {critic}})
			r, err := s.slowRun(t, api.RunRequest{}, "*a.b="+during+"*", func() { s.stop(t) })
			if err != nil || r.NextAction != "stuck" || r.Reason != "enough" {
				t.Errorf("the run ends with %s (%s), %v", r.NextAction, r.Reason, err)
			}
		})
	}
}

// slowRun starts a run of task T, calls meanwhile when it calls git with arguments of the
// pattern, lets it go on, and returns how it ends.
func (s *runSite) slowRun(t *testing.T, req api.RunRequest, pattern string, meanwhile func()) (api.RunResult, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the git that waits is a shell script")
	}
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.home, "bin")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	asks, goesOn := filepath.Join(dir, "asks"), filepath.Join(dir, "goes-on")
	writeProgram(t, filepath.Join(dir, "git"), fmt.Sprintf(`#!/bin/sh
case "$*" in %s)
	: >%s
	while [ ! -e %s ]; do sleep 0.01; done
esac
exec %s "$@"
`, pattern, asks, goesOn, program))
	s.bin = dir
	slow := s.engine(t)
	s.bin = ""
	var r api.RunResult
	ended := make(chan error, 1)
	go func() {
		var err error
		req.Prompt = runPrompt
		r, err = slow.Run(t.Context(), "T", req)
		ended <- err
	}()
	for {
		if _, err := os.Stat(asks); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the run ends first, with %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	meanwhile()
	if err := os.WriteFile(goesOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = <-ended
	return r, err
}

// tasks returns tasks with this prefix of their ids.
func tasks(prefix string, n int) []api.RunTask {
	list := make([]api.RunTask, n)
	for i := range list {
		list[i] = api.RunTask{ID: fmt.Sprint(prefix, i), RunRequest: api.RunRequest{Prompt: runPrompt}}
	}
	return list
}

// TestRunManyAtOnce drives tasks of one repository in one process. Their agents run at once:
// the first executor waits for the last one.
func TestRunManyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 8
	agents := twoRounds()
	agents["executor"] = []fakeagent.Scenario{fakeagent.Edits(fakeagent.Step{Await: &fakeagent.Await{Calls: many}})}
	s := newRunSite(t, once, agents)
	before := s.checkout(t)
	e := hosttest.Engine(t, s.root, s.options())
	var mu sync.Mutex
	commits := map[string]string{}
	host.RunTasks(context.WithoutCancel(t.Context()), e, tasks("T", many), many, func(r api.RunResult) {
		mu.Lock()
		defer mu.Unlock()
		if r.NextAction != "commit" {
			t.Errorf("%s ends with %s (%s) %v", r.TaskID, r.NextAction, r.Reason, r.Error)
		}
		commits[r.Commit] = r.TaskID
	})
	if len(commits) != many {
		t.Errorf("the commits are %v", commits)
	}
	for commit, id := range commits {
		if got := s.git(t, "rev-parse", "switchyard/"+id, "switchyard/"+id+"^"); got != commit+"\n"+s.git(t, "rev-parse", "main") {
			t.Errorf("%s is at %s, want %s", id, got, commit)
		}
	}
	if after := s.checkout(t); after != before {
		t.Errorf("the checkout was\n%s\nand is\n%s", before, after)
	}
}

// TestRunStopsAtFilesOfASubmodule: no critic reviews files that git cannot commit. Once a person
// has deleted them, the rest is reviewed.
func TestRunStopsAtFilesOfASubmodule(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits(fakeagent.Step{Write: &fakeagent.File{Path: "sub/new", Text: "x"}})))
	s.git(t, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.root, "sub")
	s.git(t, "commit", "-q", "-m", "sub")
	s.ends(t, api.RunRequest{}, "stuck", "repository-nested")
	s.wasCalled(t, "executor 1")
	sub := filepath.Join(s.worktree(t), "sub")
	if notices := s.events.of(api.RunNotice); !strings.HasPrefix(notices[len(notices)-1].Message, sub+" is the directory of a submodule") {
		t.Errorf("the notices are %+v", notices)
	}
	manually := func() {
		if _, err := s.engine(t).Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual}); err != nil {
			t.Fatal(err)
		}
	}
	manually()
	s.ends(t, api.RunRequest{}, "stuck", "repository-nested")
	manually()
	if err := os.Remove(filepath.Join(sub, "new")); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 3)
}

// TestRunStopsAtFilesThatGitCannotCommit: no critic reviews them, and a person decides how the
// task goes on, also if the run was killed before it had looked at the draft.
func TestRunStopsAtFilesThatGitCannotCommit(t *testing.T) {
	sequential(t)
	t.Parallel()
	for name, c := range map[string]struct {
		step fakeagent.Step
		says string
		undo []string
	}{
		"a pipe in the place of a file": {runs("sh", "-c", "rm a.go && mkfifo a.go"), "a.go", []string{"checkout", "-q", "--", "a.go"}},
		"an encoding that files do not have": {
			fakeagent.Step{Write: &fakeagent.File{Path: ".gitattributes", Text: "* text working-tree-encoding=UTF-16\n"}}, "BOM is required", []string{"clean", "-fq", "--", ".gitattributes"},
		},
		"a name that git does not accept": {fakeagent.Step{Write: &fakeagent.File{Path: ".GIT/config", Text: "x"}}, "invalid path '.GIT/config'", []string{"clean", "-fdqx", "--", ".GIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once, oneRound(fakeagent.Edits(c.step)))
			s.ends(t, api.RunRequest{}, "stuck", "executor-tree-unreadable")
			s.wasCalled(t, "executor 1")
			notices := s.events.of(api.RunNotice)
			if text := notices[len(notices)-1].Message; !strings.Contains(text, s.worktree(t)) || !strings.Contains(text, c.says) {
				t.Errorf("the notice is %s", text)
			}
			if _, err := s.engine(t).Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual}); err != nil {
				t.Fatal(err)
			}
			s.ends(t, api.RunRequest{}, "stuck", "tree-unreadable")
			s.wasCalled(t, "executor 1")
			if _, err := s.engine(t).Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual}); err != nil {
				t.Fatal(err)
			}
			s.gitIn(t, s.worktree(t), c.undo...)
			s.ends(t, api.RunRequest{}, "commit", "")
		})
	}
}

// TestRunStopsAtALinkInThePlaceOfTheWorktree: the draft is elsewhere, and a run that went on
// would make another one.
func TestRunStopsAtALinkInThePlaceOfTheWorktree(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, "spawn: {retries: 1, confine: off}\n", oneRound(fakeagent.Edits(runs("sh", "-c", `d=$PWD; mv "$d" "$d.moved" && ln -s "$d.moved" "$d"`))))
	s.ends(t, api.RunRequest{}, "stuck", "tree-gone")
	s.wasCalled(t, "executor 1")
	notices := s.events.of(api.RunNotice)
	if text := notices[len(notices)-1].Message; !strings.HasSuffix(text, "T.moved") {
		t.Errorf("the notice is %s", text)
	}
}
