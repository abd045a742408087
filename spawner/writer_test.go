package spawner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/spawner"
)

// newEditor is a scene whose agents edit a linked git worktree of the project.
func newEditor(t testing.TB, calls ...fakeagent.Scenario) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	s := newScene(t, calls...)
	s.write(t, "switchyard.yaml", "version: 1\n")
	s.write(t, ".gitignore", "*.log\n/.switchyard/\n")
	s.git(t, s.Root, "init", "-q", "-b", "main")
	s.git(t, s.Root, "add", "-A")
	s.git(t, s.Root, "commit", "-q", "-m", "m")
	s.Tree = filepath.Join(t.TempDir(), "tree of T")
	if err := os.Symlink(s.Root, filepath.Join(filepath.Dir(s.Tree), "project")); err != nil {
		t.Fatal(err)
	}
	s.git(t, s.Root, "worktree", "add", "-q", "-b", "switchyard/T", s.Tree)
	return s
}

func (s *scene) git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// edits spawns an executor for round 1 of task T, with claude and without retries.
func (s *scene) edits(t testing.TB) spawner.Job {
	t.Helper()
	job := s.job(t)
	job.Agent = spawner.Agent{Name: "executor", Profile: profile.Edit, Body: "You edit."}
	job.Profile, job.Role = profile.Edit, "executor"
	return job
}

func step(steps ...fakeagent.Step) fakeagent.Scenario { return fakeagent.Executes(steps...) }

func TestEditors(t *testing.T) {
	t.Parallel()
	write := func(path string) fakeagent.Scenario {
		return step(fakeagent.Step{Write: &fakeagent.File{Path: path, Text: "x"}})
	}
	// Git writes any name into its index, even where the file system refuses it.
	notUTF8 := fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"sh", "-c", `printf '100644 %040d\t"\\377"\n' 1 | git update-index --index-info`}}}
	denied := fakeagent.Step{Tool: &fakeagent.Tool{Name: "WebFetch", Denied: true}}
	for name, c := range map[string]struct {
		call    fakeagent.Scenario
		outcome outcome.Outcome
		reason  outcome.Reason
	}{
		"edits":                       {play("executor"), outcome.Edited, ""},
		"stages":                      {play("executor-stages"), outcome.Edited, ""},
		"stages what is not UTF-8":    {fakeagent.Edits(notUTF8), outcome.Edited, ""},
		"removes":                     {step(fakeagent.Step{Remove: "a.go"}), outcome.Edited, ""},
		"looks at the state":          {step(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"git", "status"}}}), outcome.NoChange, "no-change"},
		"does nothing":                {play("executor-idle"), outcome.NoChange, "no-change"},
		"writes what git ignores":     {write("build.log"), outcome.NoChange, "no-change"},
		"is refused a tool and edits": {fakeagent.Edits(denied), outcome.Edited, ""},
		"is refused a tool":           {step(denied), outcome.Failed, "denied"},
		"crashes after an edit":       {play("executor-crash"), outcome.Failed, "exit-signal"},
		"says nothing":                {play("empty"), outcome.Failed, "unreadable-output"},
		"commits":                     {play("executor-commits"), outcome.Failed, "git-changed"},
		"changes the branch":          {play("executor-branches"), outcome.Failed, "git-changed"},
		"adds a remote":               {play("executor-remote"), outcome.Failed, "git-changed"},
		"writes a hook":               {play("executor-hook"), outcome.Failed, "git-changed"},
		"commits and crashes":         {fakeagent.Scenario{Steps: append(play("executor-commits").Steps, fakeagent.Step{Exit: new(1)})}, outcome.Failed, "git-changed"},
		"makes a repository":          {step(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"git", "init", "-q", "sub"}}}), outcome.Failed, "git-changed"},
		"edits .gitmodules":           {play("executor-submodules"), outcome.Failed, "protected-changed"},
		"edits the configuration":     {play("executor-settings"), outcome.Failed, "protected-changed"},
		"edits a policy":              {write("policies/mine.rego"), outcome.Failed, "protected-changed"},
		"edits an agent":              {write(".claude/agents/critic.md"), outcome.Failed, "protected-changed"},
		"writes to the state":         {write(".switchyard/ledger.db"), outcome.Failed, "protected-changed"},
		"edits the project's policy":  {write("../project/policies/mine.rego"), outcome.Failed, "protected-changed"},
		"edits the project's files":   {write("../project/a.go"), outcome.NoChange, "no-change"},
		"deletes its tree":            {play("executor-gone"), outcome.Failed, "tree-gone"},
		"breaks its tree":             {step(fakeagent.Step{Write: &fakeagent.File{Path: ".git", Text: "gitdir: /none"}}), outcome.Failed, "tree-unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEditor(t, c.call)
			s.Scope = worktree.Scope{AlwaysTracked: []string{"policies"}}
			out, err := s.run(t, s.edits(t))
			if err != nil {
				t.Fatal(err)
			}
			v, rec := out.Last().Verdict, out.Last().Record
			if v.Outcome != c.outcome || v.Reason != c.reason || rec.Outcome != v.Outcome {
				t.Errorf("%+v with the changes %q, want %s %s", v, rec.Changed, c.outcome, c.reason)
			}
			want := ""
			if c.outcome == outcome.Edited {
				want = "Do the task of round 1"
			}
			if rec.Summary != want || want != "" && len(rec.Changed) == 0 {
				t.Errorf("summary %q of %q", rec.Summary, rec.Changed)
			}
		})
	}
}

// TestEditorContinues: an attempt continues from the edits of the one before, its prompt
// says so, and it counts if the tree differs from before the first.
func TestEditorContinues(t *testing.T) {
	t.Parallel()
	s := newEditor(t, play("executor-crash"), play("auth"), play("executor-idle"))
	job := s.edits(t)
	job.Retries, job.Adapters = 1, []string{"claude", "codex"}
	out, err := s.run(t, job)
	if err != nil {
		t.Fatal(err)
	}
	var whys []string
	for _, res := range out.Results {
		whys = append(whys, res.Why)
	}
	if !slices.Equal(whys, []string{"first", "retry:crashed", "fallback:auth"}) || out.Last().Verdict.Outcome != outcome.Edited {
		t.Errorf("attempts %v end as %+v", whys, out.Last().Verdict)
	}
	for i, call := range s.calls(t) {
		if noted := strings.Contains(string(call.Stdin), "as that attempt left it"); noted != (i > 0) {
			t.Errorf("prompt %d is\n%s", i+1, call.Stdin)
		}
	}
}

// TestEditorResumes: after a kill, the edits of the lost attempt count, and the prompt says
// so.
func TestEditorResumes(t *testing.T) {
	t.Parallel()
	s := newEditor(t, play("executor-crash"), play("executor-idle"))
	out, err := s.run(t, s.edits(t))
	if err != nil || out.Last().Verdict.Outcome != outcome.Failed {
		t.Fatalf("%+v, %v", out.Last().Verdict, err)
	}
	job := s.edits(t)
	job.Resumed = true
	for before, want := range map[string]outcome.Outcome{"": outcome.NoChange, out.Last().Tree: outcome.Edited} {
		job.Before = before
		out, err := s.run(t, job)
		if err != nil || out.Last().Verdict.Outcome != want || !strings.Contains(out.Last().Note, "interrupted") {
			t.Errorf("since %q: %+v, %v", before, out.Last().Verdict, err)
		}
		job.Before = out.Last().Tree
		if out, err = s.run(t, job); err != nil || out.Last().Verdict.Outcome != outcome.NoChange {
			t.Errorf("since the tree as it is: %+v, %v", out.Last().Verdict, err)
		}
	}
}

// TestKnownTree: an agent begins with the tree that the caller knows, so that what another
// process has changed since counts as its own.
func TestKnownTree(t *testing.T) {
	t.Parallel()
	s := newEditor(t, play("executor"), play("executor-idle"))
	out, err := s.run(t, s.edits(t))
	if err != nil || out.Last().After == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	job := s.edits(t)
	job.Tree = out.Last().After
	for _, want := range []outcome.Outcome{outcome.NoChange, outcome.Edited} {
		out, err := s.run(t, job)
		if err != nil || out.Last().Verdict.Outcome != want || out.Last().Tree != job.Tree.Digest() {
			t.Errorf("got %+v from the tree %s, %v; want %s", out.Last().Verdict, out.Last().Tree, err, want)
		}
		if err := os.WriteFile(filepath.Join(s.Tree, "another.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEditorIsComparedAfterACancel: what an agent must not have changed counts also if the
// user has interrupted it, because the next run would continue on its tree.
func TestEditorIsComparedAfterACancel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]outcome.Reason{
		"executor": outcome.ReasonCancelled, "executor-commits": outcome.ReasonGitChanged, "executor-settings": outcome.ReasonProtectedChanged,
	} {
		call := play(name)
		call.Steps = append(slices.Clone(fakeagent.Presets()[name].Steps), fakeagent.Step{Tool: &fakeagent.Tool{Name: "Grep"}}, fakeagent.Step{Hang: true})
		call.Play = ""
		s := newEditor(t, call)
		ctx, cancel := context.WithCancel(t.Context())
		job := s.edits(t)
		var last spawner.Progress
		job.Observe = func(p spawner.Progress) {
			if last = p; p.Tool == "Grep" {
				cancel()
			}
		}
		out, err := s.spawner(t).Run(ctx, job)
		if !errors.Is(err, context.Canceled) || len(out.Results) != 1 || out.Last().Verdict.Reason != want {
			t.Errorf("%s: %+v, %v", name, out.Results, err)
		}
		if last.Phase != spawner.Ended || last.Reason != string(want) {
			t.Errorf("%s: the last report is %+v", name, last)
		}
	}
}

func TestEditorStops(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"executor-commits", "executor-settings", "executor-gone"} {
		s := newEditor(t, play(name))
		job := s.edits(t)
		job.Retries, job.Adapters = 5, []string{"claude", "codex"}
		if out, err := s.run(t, job); err != nil || len(out.Results) != 1 || out.Last().Next != outcome.Stop {
			t.Errorf("%s: %d attempts, %v", name, len(out.Results), err)
		}
	}
}

// TestEditorsInTheProject: without a tree of their own agents edit the project itself,
// while other files of the state directory are written.
func TestEditorsInTheProject(t *testing.T) {
	t.Parallel()
	s := newEditor(t, play("executor"))
	s.Tree = ""
	out, err := s.run(t, s.edits(t))
	if err != nil || out.Last().Verdict.Outcome != outcome.Edited {
		t.Fatalf("%+v, %v", out.Last().Verdict, err)
	}
	if _, err := os.Stat(filepath.Join(s.Root, "draft.txt")); err != nil {
		t.Error(err)
	}
}

// TestProfileOfAJob: an agent that edits is run only by a job that lets it.
func TestProfileOfAJob(t *testing.T) {
	t.Parallel()
	s := newScene(t, play("executor"))
	job := s.edits(t)
	for _, p := range []profile.Profile{profile.Readonly, profile.Report} {
		job.Profile = p
		if _, err := s.run(t, job); errs.CodeOf(err) != errs.AgentEdits {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestSummaries: the message of a command is the last line of its output; that of others
// is whole, redacted and bounded.
func TestSummaries(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for name, c := range map[string]struct{ adapter, text, want string }{
		"a command":          {"exec", "Running the tests\nok\n\nAdd a cache \n\n", "Add a cache"},
		"an agent":           {"claude", "Add a cache\n\nIt holds 10 entries.\n", "Add a cache\n\nIt holds 10 entries."},
		"a secret":           {"claude", "Use " + secret, "Use [REDACTED:github-token]"},
		"a long text":        {"claude", "x" + strings.Repeat("ü", 8<<10), "x" + strings.Repeat("ü", 4<<10-1)},
		"a command's secret": {"exec", "x\nUse " + secret, "Use [REDACTED:github-token]"},
		"a command's log":    {"exec", strings.Repeat("ok\n", adapter.MaxText/2) + "Add a cache", "Add a cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := fakeagent.Edits()
			call.Steps[len(call.Steps)-1].Final.Text = &c.text
			s := newEditor(t, call)
			job := s.edits(t)
			job.Adapters, job.Command = []string{c.adapter}, []string{fakeagent.Build(t)}
			s.Environ = append(s.Environ, fakeagent.ScenarioVariable+"="+s.script, access.WriteVariable+"="+filepath.Dir(s.script))
			out, err := s.run(t, job)
			if err != nil || out.Last().Record.Summary != c.want {
				t.Fatalf("%+v, %.100q, %v", out.Last().Verdict, out.Last().Record.Summary, err)
			}
			if trail := s.trail(t); len(trail) != 1 || !strings.HasPrefix(c.want, strings.TrimSuffix(trail[0].Summary, "…")) {
				t.Errorf("the run log has %+v", trail)
			}
		})
	}
}

// TestEnvironmentOfAgents: a command of the user need not parse its prompt.
func TestEnvironmentOfAgents(t *testing.T) {
	t.Parallel()
	s := newEditor(t, fakeagent.Clean(), play("executor"))
	critic := s.job(t)
	critic.Role = "critic"
	var tasks []string
	critic.Observe = func(p spawner.Progress) { tasks = append(tasks, p.Task) }
	for _, job := range []spawner.Job{critic, s.edits(t)} {
		out, err := s.run(t, job)
		if err != nil || !out.Last().Verdict.Good() {
			t.Fatalf("%+v, %v", out.Last().Verdict, err)
		}
		calls := s.calls(t)
		call := calls[len(calls)-1]
		for name, want := range map[string]string{
			"SWITCHYARD_TASK": "T", "SWITCHYARD_ROUND": "1", "SWITCHYARD_ROLE": job.Role, "SWITCHYARD_RUN": out.Last().Run,
			"SWITCHYARD_REPORT": out.Last().ReportPath,
		} {
			if got, ok := call.Variable(name); got != want || ok != (want != "") {
				t.Errorf("%s: %s is %q", job.Role, name, got)
			}
		}
		if call.Dir != s.Tree {
			t.Errorf("%s works in %s", job.Role, call.Dir)
		}
	}
	if len(tasks) == 0 || slices.ContainsFunc(tasks, func(task string) bool { return task != "T" }) {
		t.Errorf("progress of the tasks %q", fmt.Sprint(tasks))
	}
}

// TestFoldersInACommandAreNotReadable: the files that a command names are readable, such as
// its script. A directory can be any argument.
func TestFoldersInACommandAreNotReadable(t *testing.T) {
	t.Parallel()
	if err := sandbox.Available(confinement.Files); err != nil {
		t.Skipf("skipped: %v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "a secret\n", "agent.sh": "echo x >new; cat $1/key 2>/dev/null || echo refused\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newEditor(t, fakeagent.Edits())
	s.Confine = access.Settings{Want: confinement.Want{Level: confinement.Files, Required: true}}
	job := s.edits(t)
	job.Adapters, job.Command = []string{"exec"}, []string{"sh", filepath.Join(dir, "agent.sh"), dir}
	out, err := s.run(t, job)
	if err != nil || out.Last().Record.Summary != "refused" {
		t.Errorf("%+v, %q, %v", out.Last().Verdict, out.Last().Record.Summary, err)
	}
}
