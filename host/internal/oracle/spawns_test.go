package oracle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fakeagent.Prebuilt(m)) }

const issues = hosttest.Issues

var (
	noon          = hosttest.Noon
	request       = hosttest.Request
	randomRequest = hosttest.RandomRequest
)

// newEngine returns an engine for the project in a directory.
func newEngine(t testing.TB, root string, now func() time.Time, environ ...string) *host.Engine {
	t.Helper()
	return hosttest.Engine(t, root, host.Options{Now: now, By: "tess", Environ: environ})
}

// TestMetricsOfSpawns compares the metrics of rounds that run agents.
func TestMetricsOfSpawns(t *testing.T) {
	t.Parallel()
	const retry = "spawn: {retries: 1}\nbudget: {spawn: {tokens: 50000}, task: {tokens: 200000, rounds: 4}}\n"
	for name, c := range map[string]struct {
		config string
		calls  []fakeagent.Scenario
	}{
		"a retry":         {retry, []fakeagent.Scenario{fakeagent.CannotWrite(), fakeagent.Clean()}},
		"a failed critic": {"spawn: {retries: 0}\n", []fakeagent.Scenario{fakeagent.CannotWrite()}},
		"a fallback":      {"spawn: {retries: 0, fallback_on_error: [codex]}\n", []fakeagent.Scenario{fakeagent.CannotWrite(), fakeagent.Clean()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for file, text := range map[string]string{project.ConfigFile: c.config, "a.go": "package a\n"} {
				if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			script := fakeagent.Write(t, t.TempDir(), c.calls...)
			e := newEngine(t, root, time.Now, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"),
				"SWITCHYARD_CLAUDE_BIN="+fakeagent.Build(t), fakeagent.ScenarioVariable+"="+script, access.WriteVariable+"="+filepath.Dir(script))
			d, err := e.Round(t.Context(), "T", host.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Decision.Spawns) == 0 {
				t.Fatal("no agent ran")
			}
			compareLedger(t, e, e.Events(t.Context()))
		})
	}
}
