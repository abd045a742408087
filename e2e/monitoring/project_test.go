package monitoring

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// commandTime is the time limit of a switchyard command.
const commandTime = 30 * time.Second

// project is a project for the real program, with a fake agent.
type project struct {
	switchyard, dir string
	// textfiles is the directory that node_exporter reads.
	textfiles string
	env       []string
	// late counts the commands that warned that their push took too long: they wait at
	// most two seconds, and a machine can stall for that long.
	late atomic.Int32
}

// newProject builds the program and sets up a project whose agent plays the scenarios.
func newProject(t *testing.T, scenarios ...fakeagent.Scenario) *project {
	t.Helper()
	p := &project{switchyard: filepath.Join(t.TempDir(), "switchyard"), dir: t.TempDir(), textfiles: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", p.switchyard, "github.com/switchyard-dev/switchyard/cmd/switchyard")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	agent, script := fakeagent.Build(t), fakeagent.Write(t, t.TempDir(), scenarios...)
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "SWITCHYARD_CACHE_DIR=" + t.TempDir(),
		"SWITCHYARD_CLAUDE_BIN=" + agent, "SWITCHYARD_CODEX_BIN=" + agent,
		fakeagent.ScenarioVariable + "=" + script, access.WriteVariable + "=" + filepath.Dir(script),
	}
	return p
}

func (p *project) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command returns a call of switchyard in the project, not yet started. It is killed
// when the context is done.
func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.switchyard, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.WaitDelay = endTime
	return cmd
}

// run runs a command and returns its output.
func (p *project) run(ctx context.Context, args ...string) (stdout []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("switchyard %s: %w\n%s%s", strings.Join(args, " "), err, out.Bytes(), errs.Bytes())
	}
	for line := range strings.Lines(errs.String()) {
		switch {
		case strings.Contains(line, "it takes too long"):
			p.late.Add(1)
		case strings.Contains(line, "warning"):
			return nil, fmt.Errorf("switchyard %s: %s", strings.Join(args, " "), errs.Bytes())
		}
	}
	return out.Bytes(), nil
}

// must runs a command that succeeds without a warning.
func (p *project) must(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := p.run(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// printed returns the output of metrics print.
func (p *project) printed(t *testing.T) series {
	t.Helper()
	all, err := parse(p.must(t, "metrics", "print"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// record is the part of an event's body that this package reads.
type record struct {
	Decision struct {
		NextAction string `json:"next_action"`
	} `json:"decision"`
	Event struct {
		Receipt struct {
			Outcome string `json:"outcome"`
		} `json:"receipt"`
	} `json:"event"`
	Spawn struct {
		In   int64 `json:"tokens_in"`
		Out  int64 `json:"tokens_out"`
		Cost int64 `json:"cost_microdollars"`
	} `json:"spawn"`
}

// exported returns the events of the ledger with their bodies.
func (p *project) exported(t *testing.T) (events []ledger.Event, bodies []record) {
	t.Helper()
	for line := range bytes.Lines(p.must(t, "ledger", "export")) {
		var e ledger.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var body record
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		events, bodies = append(events, e), append(bodies, body)
	}
	return events, bodies
}

// seconds converts a time to the unit of the metrics.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
