package host_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/spawner"
)

// site is a project whose rounds spawn fake agents.
type site struct {
	root string
	// agent is the fake agent's program, script is what it plays, and cache holds compiled
	// plugins.
	agent, script, cache string
}

// once configures that a failed spawn is not repeated.
const once = "spawn: {retries: 0}\n"

// unconfined lets agents do what a sandbox would prevent, for tests of what finds it
// afterwards.
const unconfined = "spawn: {retries: 0, confine: off}\n"

// newSite creates a project with a configuration and a draft, whose agents play the
// scenarios in order, one per call.
func newSite(t testing.TB, config string, calls ...fakeagent.Scenario) site {
	t.Helper()
	s := site{root: t.TempDir(), agent: fakeagent.Build(t), cache: t.TempDir()}
	s.write(t, project.ConfigFile, config)
	s.write(t, "a.go", "package a\n")
	s.plays(t, calls...)
	return s
}

// plays replaces the agents' script.
func (s *site) plays(t testing.TB, calls ...fakeagent.Scenario) {
	t.Helper()
	s.script = fakeagent.Write(t, t.TempDir(), calls...)
}

func (s site) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func (s site) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// git runs git in the project.
func (s site) git(t testing.TB, args ...string) {
	t.Helper()
	args = append([]string{"-C", s.root, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// engine returns an engine for the project that must not warn.
func (s site) engine(t testing.TB, now func() time.Time) *host.Engine {
	t.Helper()
	return s.start(t, host.Options{Now: now})
}

// observed is engine with an observer.
func (s site) observed(t testing.TB, observe func(spawner.Progress)) *host.Engine {
	t.Helper()
	return s.start(t, host.Options{Now: time.Now, Observe: observe})
}

// start returns an engine with o and the project's options.
func (s site) start(t testing.TB, o host.Options) *host.Engine {
	t.Helper()
	e := hosttest.Engine(t, s.root, host.Options{
		Plugins: plugins.Config{CacheDir: s.cache}, Now: o.Now, Observe: o.Observe, By: "tester",
		Environ: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
			"SWITCHYARD_CLAUDE_BIN=" + s.agent, fakeagent.ScenarioVariable + "=" + s.script, access.WriteVariable + "=" + filepath.Dir(s.script),
		},
		Warn: func(err error) { t.Errorf("a warning: %v", err) },
	})
	t.Cleanup(func() {
		if report, err := e.Verify(context.Background()); err == nil && !report.Sound() {
			t.Errorf("the ledger is not sound: %v", report.Problems)
		}
	})
	return e
}

// occupied takes a lease of an agent, as another process would.
func (s site) occupied(t testing.TB, agent string) *lease.Lease {
	t.Helper()
	keeper, err := supervise.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.path(".switchyard"), 0o700); err != nil {
		t.Fatal(err)
	}
	pool, err := lease.Open(s.path(".switchyard/run"), os.TempDir(), keeper)
	if err != nil {
		t.Fatal(err)
	}
	held, err := pool.Take(t.Context(), agent, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func (s site) round(t testing.TB) (api.RoundResult, error) {
	t.Helper()
	return s.engine(t, time.Now).Round(t.Context(), "T", host.Request{})
}

// calls returns the calls of the latest script.
func (s site) calls(t testing.TB) []fakeagent.Call { return fakeagent.Calls(t, s.script) }

// state returns the state of task T, the zero State before its first event.
func (s site) state(t testing.TB) task.State {
	t.Helper()
	tasks, err := s.engine(t, time.Now).Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range tasks {
		if found.TaskID == "T" {
			return found.State
		}
	}
	return task.State{}
}

// sound fails if a chain of the ledger is not sound, and returns the kinds of a task's
// events.
func (s site) sound(t testing.TB, id string) []string {
	t.Helper()
	var kinds []string
	for _, event := range soundEvents(t, s.engine(t, time.Now)) {
		if event.Task == id {
			kinds = append(kinds, event.Kind)
		}
	}
	return kinds
}

// count returns the number of task T's events of a kind.
func (s site) count(t testing.TB, kind task.Kind) int {
	t.Helper()
	return len(slices.DeleteFunc(s.sound(t, "T"), func(k string) bool { return k != string(kind) }))
}

// attestationsOf returns an agent's attestations for task T.
func (s site) attestationsOf(t testing.TB, agent string) []task.Attestation {
	t.Helper()
	entries, err := s.engine(t, time.Now).Attestations(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	var attestations []task.Attestation
	for _, entry := range entries {
		if entry.Agent == agent {
			attestations = append(attestations, entry.Attestation)
		}
	}
	return attestations
}

func (s site) lines(t testing.TB, name string) int {
	t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// verifies configures a verification that counts its runs in a file that does not count as
// a change of the tree.
const (
	verified = ".switchyard/verified"
	verifies = "verify: echo run >>" + verified + "\n"
)

// killed runs a round of task T and returns a copy of the project for each time that the
// engine read its clock, which it does before everything that it records.
func (s site) killed(t testing.TB) []site {
	t.Helper()
	var mu sync.Mutex
	var left []site
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		copied, err := s.fork(t, filepath.Join(t.TempDir(), "fork"))
		if err != nil {
			t.Error(err)
			return time.Now()
		}
		left = append(left, copied)
		return time.Now()
	}
	if _, err := s.engine(t, clock).Round(t.Context(), "T", host.Request{}); err != nil {
		t.Fatal(err)
	}
	return left
}

// fork copies the project: the ledger first and then the files, since the ledger is never
// ahead of the files.
func (s site) fork(t testing.TB, root string) (site, error) {
	copied := s
	copied.root = root
	state := filepath.Join(root, project.StateDir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return copied, err
	}
	if err := copyEvents(t.Context(), state, s.path(project.StateDir), nil); err != nil {
		return copied, err
	}
	return copied, copyFiles(root, s.root)
}

// copyEvents copies a ledger's events to a new ledger. change replaces their bodies, unless
// it is nil.
func copyEvents(ctx context.Context, to, from string, change func(ledger.Event) []byte) error {
	source, err := host.OpenLedger(ctx, from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := host.OpenLedger(ctx, to)
	if err != nil {
		return err
	}
	defer target.Close()
	for event, err := range source.EventsSince(ctx, 0) {
		if err != nil {
			return err
		}
		at, err := time.Parse(ledger.TimeFormat, event.At)
		if err != nil {
			return err
		}
		if change != nil {
			event.Body = change(event)
		}
		if _, err := target.AppendAll(ctx, at, ledger.Batch{
			Task: event.Task, After: event.N - 1, Events: []ledger.NewEvent{{Kind: event.Kind, Body: event.Body}},
		}); err != nil {
			return err
		}
	}
	return nil
}

// copyFiles copies all files except the ledger's. It skips files that disappear meanwhile.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case strings.HasPrefix(filepath.Base(name), "ledger.db"):
			return nil
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
}

// good counts the successful runs of task T in a role.
func good(s task.State, role task.Role) int {
	n := 0
	for _, r := range s.Runs {
		if r.Role == role && r.Receipt != nil && r.Receipt.Path != "" {
			n++
		}
	}
	return n
}

// playing returns a script for a number of researchers, preceded by the critic's if it is
// not nil.
func playing(critic *fakeagent.Scenario, researchers int) []fakeagent.Scenario {
	var calls []fakeagent.Scenario
	if critic != nil {
		calls = append(calls, *critic)
	}
	for range researchers {
		calls = append(calls, fakeagent.Presets()["researcher"])
	}
	return calls
}

// missing returns a finding that asks for research.
func missing() fakeagent.Finding {
	return fakeagent.Finding{Category: "information-missing", Severity: "fail", File: "a.go", Line: 1, Remediation: "Find out what the list may hold"}
}

// wrong returns a finding for the executor.
func wrong() fakeagent.Finding {
	return fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "a.go", Line: 1, Remediation: "Test the empty list"}
}

// trailOf returns the lines of the project's run log.
func (s site) trailOf(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(s.path(".switchyard/spawns.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

// runOf returns the run id of a line of the run log.
func runOf(t testing.TB, line string) string {
	t.Helper()
	var record struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(line), &record); err != nil {
		t.Fatal(fmt.Errorf("the trail has %q: %w", line, err))
	}
	return record.RunID
}
