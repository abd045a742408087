package e2e_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// project is the name of the project and of its directory.
const project = "shop"

// heartbeat is the heartbeat timeout of the tasks: a dead worker is noticed after it.
const heartbeat = 3 * time.Second

// fleet is a Temporal server and a project with a bare remote. Its home and its workers
// are processes.
type fleet struct {
	*testing.T
	dir     string
	address string
	script  string
	store   store.Store
	client  client.Client
	server  *process
}

// newFleet starts a server for a project whose agents follow a script. Without a server to
// start, the test is skipped.
func newFleet(t *testing.T, script fakeagent.Script) *fleet {
	t.Helper()
	if os.Getenv(temporalVariable) == "" {
		t.Skip(temporalVariable + " is not set: there is no Temporal server to test with")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{T: t, dir: dir, address: freeAddress(t), script: fakeagent.WriteScript(t, t.TempDir(), script)}
	f.write("user/.gitconfig", "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
	// A confined agent does not know the number by which the tests find it.
	f.write(project+"/switchyard.yaml", "spawn: {retries: 0, confine: off}\n")
	if err := os.Mkdir(f.path("tmp"), 0o700); err != nil { // What is killed leaves files there.
		t.Fatal(err)
	}
	f.git("init", "-q", "--bare", f.path("remote.git"))
	f.git("init", "-q")
	f.git("add", "-A")
	f.git("commit", "-q", "-m", "Begin")
	f.git("remote", "add", "origin", f.path("remote.git"))
	if f.store, err = store.Open(t.Context(), f.path("store")); err != nil {
		t.Fatal(err)
	}
	f.serve()
	return f
}

// freeAddress returns a free address of the loopback interface.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serve starts the server, which continues from its database, and waits until it answers.
func (f *fleet) serve() {
	f.Helper()
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		f.Fatal(err)
	}
	f.server = f.start("server", os.Getenv(temporalVariable), "server", "start-dev", "--headless", "--ip", host, "--port", port,
		"--db-filename", f.path("temporal.db"), "--log-level", "error",
		"--search-attribute", flow.ProjectAttribute().GetName()+"=Keyword", "--search-attribute", flow.StatusAttribute().GetName()+"=Keyword")
	until(f, "the server answers", func() bool {
		if f.server.hasEnded() {
			f.Fatal("the server has ended")
		}
		if f.client == nil {
			c, err := client.DialContext(f.Context(), client.Options{HostPort: f.address, Identity: "test", Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
			if err != nil {
				return false
			}
			f.client = c
			f.Cleanup(c.Close)
		}
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		_, err := f.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{})
		return err == nil
	})
}

// home starts the project's home.
func (f *fleet) home() *process {
	f.Helper()
	return f.start("home", program("switchyard-fleet"), "ledger", "--store", f.path("store"))
}

// worker starts a worker that finds the server at an address.
func (f *fleet) worker(name, address string) *process {
	f.Helper()
	return f.start(name, program("switchyard-fleet"), "worker", "--store", f.path("store"), "--dir", f.path(name), "--address", address).ready()
}

// begin starts a task.
func (f *fleet) begin(id string) client.WorkflowRun {
	f.Helper()
	request, err := orderstore.Put(f.Context(), f.store, api.RunRequest{Prompt: "Handle the empty list."})
	if err != nil {
		f.Fatal(err)
	}
	run, err := f.client.ExecuteWorkflow(f.Context(), client.StartWorkflowOptions{
		ID: flow.WorkflowID(project, id), TaskQueue: flow.TaskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(flow.ProjectAttribute().ValueSet(project), flow.StatusAttribute().ValueSet(flow.StatusPending)),
	}, flow.Workflow, flow.Input{Project: project, Task: id, Request: request, Heartbeat: heartbeat})
	if err != nil {
		f.Fatal(err)
	}
	return run
}

// committed waits until a task has ended, and fails unless it is committed.
func (f *fleet) committed(run client.WorkflowRun) flow.Position {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), deadline)
	defer cancel()
	var p flow.Position
	if err := run.Get(ctx, &p); err != nil {
		f.Fatal(err)
	}
	if p.NextAction != "commit" {
		f.Fatalf("%s ends with %+v (%+v)", run.GetID(), p, p.Failure)
	}
	return p
}

// pushed fails unless a task has one commit on the remote.
func (f *fleet) pushed(id string, p flow.Position) {
	f.Helper()
	if at := f.git("-C", f.path("remote.git"), "rev-list", "switchyard/"+id, "^"+f.git("rev-parse", "main")); at != p.Commit {
		f.Errorf("the remote has the commits %q of %s, want %s", at, id, p.Commit)
	}
}

// event is an event of the ledger.
type event struct {
	Task, Kind string
	Body       struct {
		Event struct {
			Receipt struct{ Outcome string }
		}
	}
}

// events returns the events of each task, once switchyard has verified them.
func (f *fleet) events() map[string][]event {
	f.Helper()
	f.switchyard("ledger", "verify")
	events := make(map[string][]event)
	for line := range strings.Lines(f.switchyard("ledger", "export")) {
		var ev event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			f.Fatal(err)
		}
		if ev.Task != "" {
			events[ev.Task] = append(events[ev.Task], ev)
		}
	}
	return events
}

// outcomes returns how the runs of agents ended.
func outcomes(events []event) []string {
	var all []string
	for _, ev := range events {
		if ev.Kind == "spawn-ended" {
			all = append(all, ev.Body.Event.Receipt.Outcome)
		}
	}
	return all
}

func (f *fleet) switchyard(args ...string) string {
	f.Helper()
	return f.output(program("switchyard"), args...)
}

func (f *fleet) git(args ...string) string {
	f.Helper()
	return strings.TrimSpace(f.output("git", args...))
}

// output runs a command in the project and returns its output.
func (f *fleet) output(program string, args ...string) string {
	f.Helper()
	var stderr strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = f.path(project), f.environ(), &stderr
	out, err := cmd.Output()
	if err != nil {
		f.Fatalf("%s %q: %v\n%s%s", program, args, err, out, &stderr)
	}
	return string(out)
}

func (f *fleet) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.path("user"), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + f.path("tmp"),
		"XDG_CACHE_HOME=" + program("cache"), "TEMPORAL_ADDRESS=" + f.address,
		"SWITCHYARD_CLAUDE_BIN=" + fakeagent.Build(f), fakeagent.ScenarioVariable + "=" + f.script, access.WriteVariable + "=" + filepath.Dir(f.script),
	}
}

func (f *fleet) write(name, text string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}
