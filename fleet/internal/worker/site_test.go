package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/home"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	fleetworker "github.com/switchyard-dev/switchyard/fleet/internal/worker"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
)

func TestMain(m *testing.M) { os.Exit(fakeagent.Prebuilt(m).Run()) }

// roles are the calls of agents in order, by role.
type roles = map[string][]fakeagent.Scenario

// site is a project with a bare remote.
type site struct {
	dir    string
	keeper *supervise.Supervisor
	agent  string
	script string
	opened *home.Home
	// decided are the next actions that the home decided on.
	decided []string
	// ahead is how far the clock of the home is ahead of the system's.
	ahead atomic.Int64
	// more are variables of the environment of agents.
	more []string
}

func (s *site) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// play replaces the calls of agents.
func (s *site) play(t testing.TB, agents roles) {
	t.Helper()
	script := fakeagent.WriteScript(t, t.TempDir(), fakeagent.Script{Roles: agents, Calls: []fakeagent.Scenario{fakeagent.Presets()["researcher"]}})
	if s.script == "" {
		s.script = script
	} else if err := os.Rename(script, s.script); err != nil {
		t.Fatal(err)
	}
}

func newSite(t testing.TB, config string, agents roles) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir, agent: fakeagent.Build(t)}
	if s.keeper, err = supervise.New(); err != nil {
		t.Fatal(err)
	}
	s.write(t, "user/.gitconfig", "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
	s.write(t, "project/switchyard.yaml", config)
	s.write(t, "project/a.go", "package a\n")
	s.createRepositories(t, "sha1")
	s.play(t, agents)
	return s
}

// createRepositories creates the project's repository and its remote, instead of those that
// are there.
func (s *site) createRepositories(t testing.TB, format string) {
	t.Helper()
	for _, name := range []string{"remote.git", "project/.git"} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.git(t, s.dir, "init", "-q", "--bare", "--object-format", format, "remote.git")
	s.git(t, s.path("project"), "init", "-q", "--object-format", format)
	s.git(t, s.path("project"), "add", "-A")
	s.git(t, s.path("project"), "commit", "-q", "-m", "first")
	s.git(t, s.path("project"), "remote", "add", "origin", s.path("remote.git"))
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *site) git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("user"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("user"), "GIT_CONFIG_NOSYSTEM=1",
		"SWITCHYARD_CLAUDE_BIN=" + s.agent, fakeagent.ScenarioVariable + "=" + s.script, access.WriteVariable + "=" + filepath.Dir(s.script),
	}, s.more...)
}

func (s *site) engine(t testing.TB) *host.Engine {
	t.Helper()
	root := s.path("project")
	e := host.New(host.Options{
		Project: host.Project{Root: root, Dir: root}, Plugins: plugins.Config{CacheDir: s.path("cache")}, Now: s.now, By: "tester",
		Environ: s.environ(), Warn: func(err error) { t.Errorf("a warning: %v", err) },
	})
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func (s *site) store(t testing.TB) store.Store {
	t.Helper()
	blobs, err := store.Open(t.Context(), s.path("store"))
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

// home returns the site's one home.
func (s *site) home(t testing.TB) *home.Home {
	t.Helper()
	if s.opened != nil {
		return s.opened
	}
	repo, err := gitrepo.Open(t.Context(), s.path("project"), gitrepo.Options{Supervisor: s.keeper, Environ: s.environ()})
	if err != nil {
		t.Fatal(err)
	}
	e := s.engine(t)
	release, err := e.HoldHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	s.opened = &home.Home{Engine: e, Store: s.store(t), Repo: repo, Remote: s.path("remote.git"),
		Decided: func(nextAction string) { s.decided = append(s.decided, nextAction) }}
	return s.opened
}

// register gives a Temporal worker all parts of the fleet.
func (s *site) register(t testing.TB, r worker.Registry) {
	t.Helper()
	home.Register(r, s.home(t))
	fleetworker.Register(r, &fleetworker.Worker{
		Store: s.store(t), Dir: s.path("worker"), Environ: s.environ(), Supervisor: s.keeper,
		Plugins: plugins.Config{CacheDir: s.path("cache")}, Warn: func(err error) { t.Errorf("a warning: %v", err) },
	})
	r.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.Workflow})
}

// request keeps the request of a task, and returns the input of its workflow.
func (s *site) request(t testing.TB, req api.RunRequest) flow.Input {
	t.Helper()
	sum, err := orderstore.Put(t.Context(), s.store(t), req)
	if err != nil {
		t.Fatal(err)
	}
	return flow.Input{Project: "shop", Task: "T", Request: sum}
}

// workflow runs the workflow of task T in the test environment.
func (s *site) workflow(t testing.TB) (end flow.Position) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	s.register(t, env)
	env.ExecuteWorkflow(flow.Workflow, s.request(t, api.RunRequest{Prompt: "Handle the empty list."}))
	if err := env.GetWorkflowResult(&end); err != nil {
		t.Fatal(err)
	}
	return end
}

// kinds returns the kinds of task T's events.
func (s *site) kinds(t testing.TB) []string {
	t.Helper()
	var kinds []string
	for ev, err := range s.engine(t).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Task == "T" {
			kinds = append(kinds, ev.Kind)
		}
	}
	return kinds
}

func TestTask(t *testing.T) {
	const once = "spawn: {retries: 0}\n"
	wrong := fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "a.go", Line: 1, Remediation: "Test the empty list"}
	for _, c := range []struct {
		name, config string
		agents       roles
	}{
		{"clean", once, roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Clean()}}},
		{"two rounds", once + "verify: \"true\"\n", roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}, "critic": {fakeagent.Finds(wrong), fakeagent.Clean()}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			local := newSite(t, c.config, c.agents)
			want, err := local.engine(t).Run(t.Context(), "T", api.RunRequest{Prompt: "Handle the empty list."})
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(t, c.config, c.agents)
			got := s.workflow(t)
			if got.NextAction != want.NextAction || got.Round != want.Round || got.Failure != nil {
				t.Errorf("the workflow ends with %+v (%+v), want %s in round %d", got, got.Failure, want.NextAction, want.Round)
			}
			if got, want := s.kinds(t), local.kinds(t); !slices.Equal(got, want) {
				t.Errorf("the fleet records\n%s\nwant\n%s", got, want)
			}
			if len(s.decided) != got.Round || s.decided[got.Round-1] != got.NextAction {
				t.Errorf("the decisions of %d rounds are %q", got.Round, s.decided)
			}
			if branch := s.git(t, s.path("remote.git"), "rev-parse", "switchyard/T"); branch != got.Commit {
				t.Errorf("the remote's branch is at %s, want %s", branch, got.Commit)
			}
		})
	}
}

// TestSHA256 commits a task of a repository whose commits have SHA-256 names.
func TestSHA256(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.createRepositories(t, "sha256")
	h.advance(t, flow.Move{})
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

// TestTaskNames commits a task whose id git does not accept as the name of a ref.
func TestTaskNames(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.id = "v1..v2.lock"
	h.advance(t, flow.Move{})
	h.finish(t)
	branch := gitrepo.TaskBranch(h.id)
	if at := h.git(t, h.path("remote.git"), "rev-parse", branch); at != h.at.Commit {
		t.Errorf("the remote's branch is at %s, want %s", at, h.at.Commit)
	}
	h.git(t, h.path("remote.git"), "rev-parse", "--verify", flow.DraftRef(branch))
}

// TestOldSites tests that a worker removes the directory of a task that has had no order for a
// week, and can carry out its next order.
func TestOldSites(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	done := h.carry(t, "worker")
	h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	h.write(t, "worker/tasks/shop/T/old", "x")
	h.write(t, "worker/tasks/shop/recent/root/x", "x")
	h.write(t, "worker/tasks/other/T/root/x", "x")
	for _, name := range []string{"shop/T", "other/T"} {
		if err := os.Chtimes(h.path("worker/tasks/"+name), time.Time{}, time.Now().Add(-8*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	done = h.carry(t, "worker")
	for name, want := range map[string]bool{"shop/T/old": false, "shop/T/tree": true, "shop/recent": true, "other/T": false} {
		if _, err := os.Stat(h.path("worker/tasks/" + name)); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %t", name, err, want)
		}
	}
	h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
	if _, err := os.Stat(h.path("worker/tasks/shop/T")); err == nil {
		t.Error("the directory of the committed task is kept")
	}
}

// TestMovedDirectory moves the directory of a worker, in which git knows its worktrees by their
// paths.
func TestMovedDirectory(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	done := h.carry(t, "before")
	h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	h.rename(t, "before", "worker")
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}
