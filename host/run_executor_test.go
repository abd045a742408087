package host_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/docs"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// hasHint reports whether docs/errors.md has a hint for a code, which the command line
// shows.
func hasHint(code errs.Code) bool {
	for line := range strings.Lines(docs.Errors) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.Contains(cells[0], "`"+string(code)+"`") {
			return strings.Trim(cells[2], "| \n") != ""
		}
	}
	return false
}

// resume continues task T with another round, as its user would.
func (s *runSite) resume(t testing.TB) {
	t.Helper()
	if _, err := s.engine(t).Resume(t.Context(), "T", host.ResumeRequest{Mode: task.MoreRounds, Rounds: 1}); err != nil {
		t.Fatal(err)
	}
}

func appends(path string) fakeagent.Step {
	return fakeagent.Step{Append: &fakeagent.File{Path: path, Text: "# round {round}\n"}}
}

// editsThenFails is an agent that edits draft.txt and then ends with an error.
func editsThenFails(f fakeagent.Failure) fakeagent.Scenario {
	return fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, appends("draft.txt"), fakeagent.Step{Fail: &f})
}

func runs(argv ...string) fakeagent.Step { return fakeagent.Step{Run: &fakeagent.Run{Argv: argv}} }

// TestRunWithAnExecutorThatMisbehaves checks that an executor that does more than edit its
// worktree, or less, leaves a task that is stuck for a reason, that nothing of it is
// committed before a person resumes the task, and that the task can end with a commit.
func TestRunWithAnExecutorThatMisbehaves(t *testing.T) {
	sequential(t)
	t.Parallel()
	preset := fakeagent.Presets()
	git, protected := "executor-git-changed", "executor-protected-changed"
	restore := func(t *testing.T, s *runSite, b *task.Branch) {
		s.gitIn(t, b.Worktree, "checkout", "-q", "--", ".")
		s.gitIn(t, b.Worktree, "clean", "-fdqx", "--", ".switchyard", ".claude", ".gitmodules")
	}
	for name, c := range map[string]struct {
		plays  fakeagent.Scenario
		reason string
		// fails is the code of the run after the resume, "" if it goes on; then the user
		// does what the hint says.
		fails errs.Code
		fix   func(*testing.T, *runSite, *task.Branch)
		// drafts is the content of draft.txt in the commit.
		drafts string
	}{
		"commits": {preset["executor-commits"], git, errs.BranchMoved, func(t *testing.T, s *runSite, b *task.Branch) {
			s.gitIn(t, b.Worktree, "reset", "--soft", b.Base)
		}, "# round 1\n# round 2"},
		"switches the branch": {preset["executor-branches"], git, errs.WorktreeSwitched, func(t *testing.T, s *runSite, b *task.Branch) {
			s.gitIn(t, b.Worktree, "switch", "-q", b.Name)
		}, "# round 1\n# round 2"},
		"deletes the branch": {fakeagent.Edits(runs("git", "update-ref", "-d", "refs/heads/switchyard/T")), git, errs.BranchMoved, func(t *testing.T, s *runSite, b *task.Branch) {
			s.git(t, "branch", b.Name, b.Base)
		}, "# round 1\n# round 2"},
		"adds a remote": {preset["executor-remote"], git, "", nil, "# round 1\n# round 2"},
		"adds a hook":   {preset["executor-hook"], git, "", nil, "# round 1\n# round 2"},
		"deletes its .git": {fakeagent.Edits(fakeagent.Step{Remove: ".git"}), git, "", func(t *testing.T, s *runSite, b *task.Branch) {
			s.git(t, "worktree", "repair")
		}, "# round 1\n# round 2"},
		"edits .gitmodules":                {preset["executor-submodules"], protected, "", restore, "# round 1\n# round 2"},
		"edits switchyard.yaml":            {preset["executor-settings"], protected, "", restore, "# round 1\n# round 2"},
		"edits a policy":                   {fakeagent.Edits(appends("rules/routing.rego")), protected, "", restore, "# round 1\n# round 2"},
		"edits .switchyard":                {fakeagent.Edits(appends(".switchyard/agents/critic.md")), protected, "", restore, "# round 1\n# round 2"},
		"edits agents":                     {fakeagent.Edits(appends(".claude/agents/critic.md")), protected, "", restore, "# round 1\n# round 2"},
		"edits the project's own settings": {fakeagent.Edits(appends("{root}/switchyard.yaml")), protected, "", nil, "# round 1\n# round 2"},
		"edits the project's own agents":   {fakeagent.Edits(appends("{root}/.switchyard/agents/executor.md")), protected, "", nil, "# round 1\n# round 2"},
		"deletes the worktree":             {preset["executor-gone"], "executor-tree-gone", "", nil, "# round 2"},
		"changes nothing":                  {preset["executor-idle"], "executor-no-change", "", nil, "# round 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, "spawn: {retries: 1, confine: off}\npolicy: rules/\n", nil)
			s.ownPolicy(t, func(rego string) string { return rego })
			for i, step := range c.plays.Steps {
				if step.Append != nil {
					c.plays.Steps[i] = appends(strings.ReplaceAll(step.Append.Path, "{root}", s.root))
				}
			}
			s.play(t, oneRound(c.plays))
			base := s.git(t, "rev-parse", "main")
			r := s.ends(t, api.RunRequest{}, "stuck", c.reason)
			want := []string{"executor 1"}
			if name == "changes nothing" { // It gets another attempt, with a note.
				want = append(want, "executor 1")
				if text := s.prompts(t, "executor", 1); !strings.Contains(text, "the agent changed no file") {
					t.Errorf("the second attempt has no note:\n%s", text)
				}
			}
			s.wasCalled(t, want...)
			if got := s.git(t, "rev-parse", "main"); got != base {
				t.Errorf("main is at %s, and was at %s", got, base)
			}

			s.resume(t)
			if c.fails != "" {
				s.fails(t, api.RunRequest{}, c.fails)
				s.wasCalled(t, want...)
			}
			if c.fix != nil {
				c.fix(t, s, r.Branch)
			}
			s.ends(t, api.RunRequest{}, "commit", "no-findings")
			state := s.committed(t, 2)
			if got := s.git(t, "show", state.Commit.SHA+":draft.txt"); got != c.drafts {
				t.Errorf("the commit has %q, want %q", got, c.drafts)
			}
			s.wasCalled(t, append(want, "build-fixer 2", "critic 2")...)
		})
	}
}

// TestRunContinuesAfterAFailedExecutor checks that an executor that crashes, hangs or
// writes too much fails the run, and that the next attempt continues from its edits.
func TestRunContinuesAfterAFailedExecutor(t *testing.T) {
	sequential(t)
	t.Parallel()
	for name, c := range map[string]struct {
		plays fakeagent.Scenario
		code  errs.Code
	}{
		"crashes":          {fakeagent.Presets()["executor-crash"], errs.SpawnFailed},
		"takes too long":   {fakeagent.Edits(fakeagent.Step{Hang: true}), errs.SpawnFailed},
		"writes too much":  {fakeagent.Edits(fakeagent.Step{Flood: &fakeagent.Flood{Bytes: 70 << 20, Line: 1000}}), errs.SpawnFailed},
		"is not logged in": {fakeagent.Presets()["auth"], errs.SpawnAuth},
		"loses its login":  {editsThenFails(fakeagent.Failure{Status: 401}), errs.SpawnAuth},
		"meets a quota":    {editsThenFails(fakeagent.Failure{Status: 429, Kind: "limit"}), errs.SpawnQuota},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, "spawn: {retries: 0, timeout: 2s}\n", oneRound(c.plays))
			s.fails(t, api.RunRequest{}, c.code)
			if state := s.state(t); state.Status != task.Open || state.Round != 1 {
				t.Fatalf("the task is %s in round %d", state.Status, state.Round)
			}
			draft, err := os.ReadFile(filepath.Join(s.worktree(t), "draft.txt"))
			if err != nil && name != "is not logged in" {
				t.Errorf("the edits are lost: %v", err)
			}
			s.play(t, oneRound(fakeagent.Edits()))
			r := s.ends(t, api.RunRequest{}, "commit", "")
			s.committed(t, 1)
			s.wasCalled(t, "executor 1", "critic 1")
			if got := s.git(t, "show", r.Commit+":draft.txt"); got != strings.TrimSpace(string(draft)+"# round 1") {
				t.Errorf("the commit has %q", got)
			}
			if why := s.state(t).Runs; !slices.ContainsFunc(why, func(r task.Run) bool { return r.Why == "resume" }) {
				t.Errorf("no run is a resumed one: %+v", why)
			}
		})
	}
}

// TestRunWithoutItsWorktree deletes the worktree at each step of a task. A draft that is
// lost is never reviewed as an empty one.
func TestRunWithoutItsWorktree(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Presets()["auth"], fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()}})
	s.fails(t, api.RunRequest{}, errs.SpawnAuth)
	tree := s.worktree(t)
	if err := os.RemoveAll(tree); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "stuck", "tree-gone")
	s.wasCalled(t, "executor 1", "critic 1")
	s.resume(t)
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	if notices := s.events.of(api.RunNotice); !slices.ContainsFunc(notices, func(ev api.RunEvent) bool { return strings.Contains(ev.Message, "created again") }) {
		t.Errorf("the notices are %+v", notices)
	}
}

// TestRunWithoutAnUnreviewedDraft deletes the worktree of a task whose critic failed. The draft
// that its next round should review is gone, so that the round needs another one.
func TestRunWithoutAnUnreviewedDraft(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{
		"executor": {fakeagent.Edits()}, "critic": {fakeagent.CannotWrite(), fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()},
	})
	s.ends(t, api.RunRequest{}, "stuck", "stuck-finding")
	if err := os.RemoveAll(s.worktree(t)); err != nil {
		t.Fatal(err)
	}
	s.resume(t)
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	s.wasCalled(t, "executor 1", "critic 1", "build-fixer 2", "critic 2")
}

// TestRunWithoutVerificationOutput deletes the outputs of verifications between two runs, as
// docs/ledger.md allows. The agents of the second run work without them.
func TestRunWithoutVerificationOutput(t *testing.T) {
	sequential(t)
	t.Parallel()
	for verify, last := range map[string]string{"\"true\"": "critic", "grep -q 'round 2' draft.txt": "build-fixer"} {
		t.Run(last, func(t *testing.T) {
			agents := oneRound(twoRounds()["executor"][0])
			s := newRunSite(t, once+"verify: "+verify+"\n", agents)
			logsIn := maps.Clone(agents)
			agents[last] = []fakeagent.Scenario{fakeagent.Presets()["auth"]}
			s.play(t, agents)
			s.fails(t, api.RunRequest{}, errs.SpawnAuth)
			s.play(t, logsIn)
			if err := os.RemoveAll(filepath.Join(s.root, ".switchyard", "verify")); err != nil {
				t.Fatal(err)
			}
			s.ends(t, api.RunRequest{}, "commit", "")
		})
	}
}

// TestRunStopsOnAnEmptyDraft checks that a draft that ends as it began stops the task: the
// next run of the round would end the same way.
func TestRunStopsOnAnEmptyDraft(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{
		"executor":    {fakeagent.Edits()},
		"build-fixer": {fakeagent.Edits(fakeagent.Step{Remove: "draft.txt"})},
		"critic":      {fakeagent.Finds(wrong())},
	})
	s.ends(t, api.RunRequest{}, "stuck", "draft-empty")
}

// TestRunCommitsNoProtectedFile checks that a rejected change that stays in the worktree is
// in no commit after the task is resumed, except by a person's own draft.
func TestRunCommitsNoProtectedFile(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, unconfined, oneRound(fakeagent.Presets()["executor-settings"]))
	s.ends(t, api.RunRequest{}, "stuck", "executor-protected-changed")
	s.resume(t)
	s.ends(t, api.RunRequest{}, "stuck", "draft-protected")
	if got := s.git(t, "rev-parse", "switchyard/T"); got != s.git(t, "rev-parse", "main") {
		t.Errorf("%s is committed", got)
	}
	engine := s.engine(t)
	if _, err := engine.Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual, Reason: "on purpose"}); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
}

// TestRunCommitsNoForgedFile: an object with the id of the draft's file and other contents,
// which git would take for that file, is in no commit.
func TestRunCommitsNoForgedFile(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	draft := filepath.Join(t.TempDir(), "draft.txt")
	if err := os.WriteFile(draft, []byte("# round 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	object := func(id string) string { return filepath.Join(s.root, ".git", "objects", id[:2], id[2:]) }
	other, err := os.ReadFile(object(s.git(t, "rev-parse", "main:a.go")))
	if err != nil {
		t.Fatal(err)
	}
	forged := object(s.git(t, "hash-object", draft))
	if err := errors.Join(os.MkdirAll(filepath.Dir(forged), 0o700), os.WriteFile(forged, other, 0o400)); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "stuck", "git-object-invalid")
	if got := s.git(t, "log", "--format=%s", "--all"); got != "first" {
		t.Errorf("the commits are %q", got)
	}

	if err := os.Remove(forged); err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine(t).Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual, Reason: "it is removed"}); err != nil {
		t.Fatal(err)
	}
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
	if got := s.git(t, "show", "switchyard/T:draft.txt"); got != "# round 1" {
		t.Errorf("the committed file is %q", got)
	}
}

// TestRunCommitsUnderNoOtherName: a tag with the name of the task's branch, for which git would
// take the name in a merge, stops the commit, and other tasks do not start from it.
func TestRunCommitsUnderNoOtherName(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.git(t, "tag", "switchyard/T")
	if err := s.fails(t, api.RunRequest{}, errs.BranchMoved); !strings.Contains(err.Hint, "git update-ref -d refs/tags/switchyard/T,") {
		t.Errorf("the hint is %q", err.Hint)
	}
	if got := s.git(t, "log", "--format=%s", "--all"); got != "first" {
		t.Errorf("the commits are %q", got)
	}
	s.git(t, "update-ref", "-d", "refs/tags/switchyard/T")
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
	s.git(t, "tag", "switchyard/T", "main")
	if _, err := s.engine(t).Run(t.Context(), "T2", api.RunRequest{Prompt: runPrompt, Base: "switchyard/T"}); errs.CodeOf(err) != errs.RevisionUnknown {
		t.Errorf("a task that starts from the name: got %v", err)
	}
}

// TestRunReviewsAgainAfterAFailedCritic checks that a draft whose critic failed is reviewed
// again when the task is resumed, and not changed before.
func TestRunReviewsAgainAfterAFailedCritic(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Scenario{}, fakeagent.Clean()}})
	s.ends(t, api.RunRequest{}, "stuck", "stuck-finding")
	s.resume(t)
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
	s.wasCalled(t, "executor 1", "critic 1", "critic 2")
}

// TestRunCommitsNoInstant: a process that outlived its agent shows git other files than it
// shows us, only while git stores them.
func TestRunCommitsNoInstant(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the git is a shell script")
	}
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"written": {"cp draft.txt $0.kept; echo evil >draft.txt", "cat $0.kept >draft.txt"},
		"moved":   {"mv draft.txt $0.kept; echo evil >draft.txt", "mv $0.kept draft.txt"},
		"added":   {"echo evil >evil.go", "rm evil.go"},
		"removed": {"mv a.go $0.kept", "mv $0.kept a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once, oneRound(fakeagent.Edits()))
			s.replaceGit(t, fmt.Sprintf(`case "$*" in
*" add --all "*)
	: >$0.on
	%s ;;
*" config -z --list") # the first command of the snapshot
	[ ! -e $0.on ] || { rm $0.on; %s; } ;;
esac`, c.before, c.after))
			s.fails(t, api.RunRequest{}, errs.RoundShifted)
			if got := s.git(t, "log", "--format=%s", "--all"); got != "first" {
				t.Errorf("the commits are %q", got)
			}
			s.bin = ""
			s.ends(t, api.RunRequest{}, "commit", "")
			s.committed(t, 1)
		})
	}
}
