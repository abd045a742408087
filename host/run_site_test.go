package host_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// runSite is a project in a git repository whose tasks are driven by Run with fake agents.
type runSite struct {
	site
	home string
	// bin is a directory that precedes PATH, and only replaces it; "" for none.
	bin, only string
	// now is the clock of the engines, nil for the system's.
	now    func() time.Time
	events *events
	// before is the checkout before any run, if a test compares it.
	before string
}

// events are those that runs have emitted.
type events struct {
	mu  sync.Mutex
	all []api.RunEvent
}

func (e *events) observe(ev api.RunEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// of returns the events of a kind.
func (e *events) of(kind api.RunEventKind) []api.RunEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.all), func(ev api.RunEvent) bool { return ev.Event != kind })
}

// roles is a script: the scenarios of each role, one for each round.
type roles = map[string][]fakeagent.Scenario

// newRunSite creates a repository with one commit, in a directory whose name has a space
// and a character beyond ASCII.
func newRunSite(t testing.TB, config string, agents roles) *runSite {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return runSiteIn(t, dir, config, agents)
}

// runSiteIn is newRunSite in a directory.
func runSiteIn(t testing.TB, dir, config string, agents roles) *runSite {
	t.Helper()
	s := &runSite{home: filepath.Join(dir, "home"), events: &events{}}
	s.site = site{root: filepath.Join(dir, "a prüfung"), agent: fakeagent.Build(t), cache: t.TempDir()}
	for _, made := range []string{s.home, s.root} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte("[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(t, "init", "-q", "--template=")
	s.write(t, "switchyard.yaml", config)
	s.write(t, "a.go", "package a\n")
	s.git(t, "add", "-A")
	s.git(t, "commit", "-q", "-m", "first")
	s.play(t, agents)
	return s
}

// play replaces the agents' script and its log of calls.
func (s *runSite) play(t testing.TB, agents roles) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(s.home), "script") // Confined agents write their calls there.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.script = fakeagent.WriteScript(t, dir, fakeagent.Script{Roles: agents, Calls: []fakeagent.Scenario{fakeagent.Presets()["researcher"]}})
}

// git runs git in the checkout as the user would.
func (s *runSite) git(t testing.TB, args ...string) string {
	t.Helper()
	return s.gitIn(t, s.root, args...)
}

func (s *runSite) gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *runSite) environ() []string {
	path := os.Getenv("PATH")
	if s.bin != "" {
		path = s.bin + string(os.PathListSeparator) + path
	}
	if s.only != "" {
		path = s.only
	}
	return []string{
		"PATH=" + path, "HOME=" + s.home, "GIT_CONFIG_NOSYSTEM=1",
		"SWITCHYARD_CLAUDE_BIN=" + s.agent, "SWITCHYARD_CODEX_BIN=" + s.agent, fakeagent.ScenarioVariable + "=" + s.script, access.WriteVariable + "=" + filepath.Dir(s.script),
	}
}

// writeProgram writes a program that the test runs. Meanwhile no process starts: until it
// executes its own program it would have the file open for writing, and such a file cannot be
// executed.
func writeProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}

// replaceGit makes runs call a git that first runs a script of sh, in which $git is the real
// program, until bin is "".
func (s *runSite) replaceGit(t testing.TB, script string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	s.bin = filepath.Join(filepath.Dir(s.home), "bin")
	if err := os.Mkdir(s.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	writeProgram(t, filepath.Join(s.bin, "git"), fmt.Sprintf("#!/bin/sh\ngit=%s\n%s\nexec $git \"$@\"\n", program, script))
}

// define writes an agent's definition with this front matter.
func (s *runSite) define(t testing.TB, agent, front string) {
	t.Helper()
	path := s.path(".claude/agents/" + agent + ".md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("---\nname: "+agent+"\ndescription: A test.\n"+front+"---\nDo it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ownPolicy commits a policy in rules/: the released one with changes.
func (s *runSite) ownPolicy(t testing.TB, change func(rego string) string) {
	t.Helper()
	rego, err := fs.ReadFile(policies.Files(), "routing/1.2.0/routing.rego")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path("rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "rules/routing.rego", change(string(rego)))
	s.git(t, "add", "rules")
	s.git(t, "commit", "-q", "-m", "rules")
}

// options returns those of an engine for the project.
func (s *runSite) options() host.Options {
	o := host.Options{Plugins: plugins.Config{CacheDir: s.cache}, Now: s.now, By: "tester", Environ: s.environ()}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// engine returns an engine for the project that must not warn.
func (s *runSite) engine(t testing.TB) *host.Engine {
	t.Helper()
	o := s.options()
	o.Warn = func(err error) { t.Errorf("a warning: %v", err) }
	return hosttest.Engine(t, s.root, o)
}

// prompt is the text of every task.
const runPrompt = "Handle the empty list."

// run drives task T.
func (s *runSite) run(t testing.TB, req api.RunRequest) (api.RunResult, error) {
	t.Helper()
	if req.Prompt == "" {
		req.Prompt = runPrompt
	}
	req.Observe = s.events.observe
	return s.engine(t).Run(t.Context(), "T", req)
}

// ends drives task T and fails unless it ends like this.
func (s *runSite) ends(t testing.TB, req api.RunRequest, action, reason string) api.RunResult {
	t.Helper()
	r, err := s.run(t, req)
	if err != nil {
		t.Fatalf("the run fails: %s: %v", errs.CodeOf(err), err)
	}
	if r.NextAction != action || reason != "" && r.Reason != reason {
		s.dump(t)
		t.Fatalf("the run ends with %s (%s) in round %d, want %s (%s)", r.NextAction, r.Reason, r.Round, action, reason)
	}
	return r
}

// fails drives task T and fails unless that fails with the code and a hint.
func (s *runSite) fails(t testing.TB, req api.RunRequest, code errs.Code) *errs.Error {
	t.Helper()
	r, err := s.run(t, req)
	failed, ok := errors.AsType[*errs.Error](err)
	if !ok || failed.Code != code || r.NextAction != api.ActionFailed {
		t.Fatalf("the run ends with %s, %v, want %s", r.NextAction, err, code)
	}
	if failed.Hint == "" && !hasHint(code) {
		t.Errorf("%s has no hint", code)
	}
	return failed
}

// state returns the state of task T.
func (s *runSite) state(t testing.TB) task.State {
	t.Helper()
	found, err := s.engine(t).Task(t.Context(), "T")
	if errs.CodeOf(err) == errs.TaskNotFound {
		return task.State{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.State
}

// worktree returns the worktree of task T.
func (s *runSite) worktree(t testing.TB) string { t.Helper(); return s.state(t).Branch.Worktree }

// count returns the number of task T's events of a kind.
func (s *runSite) count(t testing.TB, kind task.Kind) int {
	t.Helper()
	n := 0
	for _, ev := range soundEvents(t, s.engine(t)) {
		if ev.Task == "T" && ev.Kind == string(kind) {
			n++
		}
	}
	return n
}

// called returns the role and round of each call, such as "critic 1".
func (s *runSite) called(t testing.TB) []string {
	t.Helper()
	calls := []string{}
	for _, c := range s.calls(t) {
		role, _ := c.Variable("SWITCHYARD_ROLE")
		round, _ := c.Variable("SWITCHYARD_ROUND")
		calls = append(calls, role+" "+round)
	}
	return calls
}

// prompts returns the prompts of the calls for a role in a round.
func (s *runSite) prompts(t testing.TB, role string, round int) string {
	t.Helper()
	var all strings.Builder
	for _, c := range s.calls(t) {
		if got, _ := c.Variable("SWITCHYARD_ROLE"); got != role {
			continue
		}
		if got, _ := c.Variable("SWITCHYARD_ROUND"); got == fmt.Sprint(round) {
			all.Write(c.Stdin)
		}
	}
	return all.String()
}

// wasCalled fails unless these calls were made, in any order if they ran at once.
func (s *runSite) wasCalled(t testing.TB, want ...string) {
	t.Helper()
	if got := s.called(t); !slices.Equal(got, want) {
		t.Errorf("the agents were called as %q, want %q", got, want)
	}
}

// checkout describes all that a run must not touch: the index, the refs outside of
// switchyard/, the stash, the settings, the hooks and the files of the checkout.
func (s *runSite) checkout(t testing.TB) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, s.git(t, "stash", "list"), s.git(t, "symbolic-ref", "-q", "HEAD"))
	for line := range strings.Lines(s.git(t, "for-each-ref")) {
		if !strings.Contains(line, "/switchyard/") {
			text.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	err := filepath.WalkDir(s.root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(s.root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".switchyard" || name == ".git/objects" || name == ".git/worktrees" || strings.HasPrefix(name, ".git/refs") || strings.HasPrefix(name, ".git/logs")):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&text, "%s %x\n", name, sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// committed fails unless task T has one commit on its branch, with its trailers, of the
// tree that is in its clean worktree.
func (s *runSite) committed(t testing.TB, round int) task.State {
	t.Helper()
	state := s.state(t)
	if state.Status != task.Committed || state.Commit == nil || state.Round != round {
		t.Fatalf("the task is %s in round %d with commit %v, want round %d", state.Status, state.Round, state.Commit, round)
	}
	b := state.Branch
	if got := s.git(t, "rev-list", b.Base+".."+b.Name); got != state.Commit.SHA {
		t.Errorf("branch %s has the commits %q, want %s", b.Name, got, state.Commit.SHA)
	}
	if got := s.git(t, "rev-parse", b.Name+"^{tree}"); got != state.Commit.Tree || got != state.Last.Tree {
		t.Errorf("the tree is %s, decided was %s", got, state.Last.Tree)
	}
	var hash string
	for _, ev := range soundEvents(t, s.engine(t)) {
		if ev.Task == "T" && ev.Kind == string(task.KindDecided) {
			hash = ev.Hash
		}
	}
	want := fmt.Sprintf("Switchyard-Task: T\nSwitchyard-Round: %d\n%s: %s\nSwitchyard-Policy: %s", round, gitrepo.DecisionTrailer, hash, state.Last.Policy)
	if got := s.git(t, "log", "-1", "--format=%(trailers)", b.Name); got != want {
		t.Errorf("the trailers are\n%s\nwant\n%s", got, want)
	}
	for _, kind := range []task.Kind{task.KindBranched, task.KindCommitCreated} {
		if n := s.count(t, kind); n != 1 {
			t.Errorf("%d events %s, want 1", n, kind)
		}
	}
	if n := s.count(t, task.KindDecided); n > round {
		t.Errorf("%d decisions in %d rounds", n, round)
	}
	if open := state.OpenRuns(); len(open) > 0 {
		t.Errorf("runs are open still: %+v", open)
	}
	if got := s.gitIn(t, b.Worktree, "status", "--porcelain"); got != "" {
		t.Errorf("the worktree has changes: %s", got)
	}
	return state
}

// twoRounds is a script of a task that is committed in round 2.
func twoRounds() roles {
	return roles{
		"executor":    {fakeagent.Edits()},
		"build-fixer": {fakeagent.Edits()},
		"critic":      {fakeagent.Finds(wrong()), fakeagent.Clean()},
	}
}

// oneRound is a script of a task that is committed in round 1 with this executor.
func oneRound(executor fakeagent.Scenario) roles {
	return roles{"executor": {executor}, "build-fixer": {fakeagent.Edits()}, "critic": {fakeagent.Clean()}}
}

func (s *runSite) dump(t testing.TB) {
	for _, ev := range s.events.all {
		switch {
		case ev.Agent != nil:
			t.Logf("%s %d %+v", ev.Event, ev.Round, *ev.Agent)
		case ev.Decision != nil:
			t.Logf("%s %d %s %s %+v", ev.Event, ev.Round, ev.Decision.NextAction, ev.Decision.Reason, ev.Decision.Findings)
		default:
			t.Logf("%s %d %s", ev.Event, ev.Round, ev.Message)
		}
	}
}
