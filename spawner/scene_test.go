package spawner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/spawner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fakeagent.Prebuilt(m)) }

// scene is a project with a spawner whose agents, claude and codex, are fakes.
type scene struct {
	spawner.Options
	script string

	mu sync.Mutex
	// reported has the events in order: begin RUN, end OUTCOME and deliver, from the
	// job's functions, and the phases of its progress.
	reported []string
	// results are the arguments of the job's End.
	results []spawner.Result
}

// newScene creates a scene. Each call of an agent plays the next scenario. A warning or
// a private directory that is left fails the test.
func newScene(t testing.TB, calls ...fakeagent.Scenario) *scene {
	t.Helper()
	keeper, err := supervise.New()
	if err != nil {
		t.Fatal(err)
	}
	root, fake := t.TempDir(), fakeagent.Build(t)
	s := &scene{script: fakeagent.Write(t, t.TempDir(), calls...)}
	s.Options = spawner.Options{
		Root: root, State: filepath.Join(root, ".switchyard"), Temp: t.TempDir(), Supervisor: keeper, Catalog: adapter.NewCatalog(),
		Environ: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), fakeagent.ScenarioVariable + "=" + s.script, access.WriteVariable + "=" + filepath.Dir(s.script),
			"SWITCHYARD_CLAUDE_BIN=" + fake, "SWITCHYARD_CODEX_BIN=" + fake,
		},
		Now: time.Now, Random: func() float64 { return 0 },
		Warn: func(err error) { t.Errorf("a warning: %v", err) },
	}
	s.write(t, "a.go", "package a\n")
	t.Cleanup(func() {
		if left, err := os.ReadDir(s.Temp); err != nil || len(left) > 0 {
			t.Errorf("private directories are left: %v %v", left, err)
		}
		if records, err := filepath.Glob(filepath.Join(s.State, "run", "*.json")); err != nil || len(records) > 0 {
			t.Errorf("slots have records still: %v %v", records, err)
		}
	})
	return s
}

func (s *scene) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// spawner returns a spawner with the scene's current options.
func (s *scene) spawner(t testing.TB) *spawner.Spawner {
	t.Helper()
	state, err := safefile.OpenState(s.State)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	made, err := spawner.New(s.Options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s *scene) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported = append(s.reported, fmt.Sprintf(format, args...))
}

// heard reports whether an event was reported.
func (s *scene) heard(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.reported, what)
}

// job spawns a critic for round 1 of task T, with claude and without retries.
func (s *scene) job(t testing.TB) spawner.Job {
	t.Helper()
	critic, err := definition.Library{}.Find("critic")
	if err != nil {
		t.Fatal(err)
	}
	return spawner.Job{
		Agent: critic, Adapters: []string{"claude"}, Profile: profile.Report, Task: "T", Round: 1,
		Limits: spawner.Limits{Timeout: time.Minute, Concurrency: 1},
		Prompt: func(at spawner.Attempt) (string, error) {
			return fmt.Sprintf("task_id: T\nround: 1\nrun_id: %s\nreport_path: %s\n%s\n", at.Run, at.ReportPath, at.Note), nil
		},
		Hooks: spawner.Hooks{Begin: func(_ context.Context, at spawner.Attempt) error {
			s.tell("begin %s", at.Why)
			return nil
		},
			End: func(_ context.Context, res spawner.Result) error {
				s.tell("end %s", res.Verdict.Outcome)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.results = append(s.results, res)
				return nil
			},
			Deliver: func(res spawner.Result) error {
				s.tell("deliver %s", res.Verdict.Outcome)
				return nil
			},
			Observe: func(p spawner.Progress) { s.tell("%s", p.Phase) }},
	}
}

// run runs a job to its end.
func (s *scene) run(t testing.TB, job spawner.Job) (spawner.Outcome, error) {
	t.Helper()
	return s.spawner(t).Run(t.Context(), job)
}

func (s *scene) calls(t testing.TB) []fakeagent.Call { return fakeagent.Calls(t, s.script) }

// trail returns the records of the spawn log.
func (s *scene) trail(t testing.TB) []spawner.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.State, spawner.RunLogFile))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var records []spawner.Record
	for line := range strings.Lines(string(text)) {
		var r spawner.Record
		if err := json.Unmarshal([]byte(line), &r, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("the trail has %q: %v", line, err)
		}
		records = append(records, r)
	}
	return records
}

// waitUntil waits for a condition that another goroutine brings about.
func waitUntil(t testing.TB, so func() bool) {
	t.Helper()
	for !so() {
		time.Sleep(2 * time.Millisecond)
	}
}
