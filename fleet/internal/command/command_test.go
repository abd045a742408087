package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/switchyard-dev/switchyard/fleet/internal/command"
	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// site is a project of a fleet, and a store.
type site struct {
	*testing.T
	dir, store string
}

// newSite returns a project whose commands talk to the server at an address.
func newSite(t *testing.T, address string) site {
	t.Helper()
	s := site{t, filepath.Join(t.TempDir(), fleettest.Project), t.TempDir()}
	if err := os.MkdirAll(filepath.Join(s.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("TEMPORAL_ADDRESS", address)
	t.Setenv("SWITCHYARD_USER", "alice")
	return s
}

// run executes a command line.
func (s site) run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = command.Run(ctx, append([]string{"-C", s.dir}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
	return code, out.String(), err.String()
}

// want executes a command line that exits with a code, and returns its output.
func (s site) want(code int, args ...string) string {
	s.Helper()
	got, stdout, stderr := s.run(s.Context(), args...)
	if got != code {
		s.Fatalf("%q exits with %d, want %d:\n%s%s", args, got, code, stdout, stderr)
	}
	return stdout
}

// wantJSON executes a command line with --output json that exits with a code. It checks the
// output with a schema of docs/schema, and returns it.
func (s site) wantJSON(code int, schema string, args ...string) string {
	s.Helper()
	out := s.want(code, append(args, "--output", "json")...)
	text, err := os.ReadFile("../../../docs/schema/" + schema + ".schema.json")
	if err != nil {
		s.Fatal(err)
	}
	var form jsonschema.Schema
	if err := json.Unmarshal(text, &form); err != nil {
		s.Fatal(err)
	}
	resolved, err := form.Resolve(nil)
	if err != nil {
		s.Fatal(err)
	}
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var value any
		if err := decoder.Decode(&value); err != nil {
			s.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			s.Errorf("the output of %q does not fit %s: %v\n%s", args, schema, err, out)
		}
	}
	return out
}

// refuse executes a command line that fails with an error.
func (s site) refuse(code errs.Code, args ...string) {
	s.Helper()
	got, stdout, stderr := s.run(s.Context(), append(args, "--output", "json")...)
	want := cli.ExitFault
	if code == errs.Usage {
		want = cli.ExitUsage
	}
	if got != want || !strings.Contains(stderr, fmt.Sprintf(`"code": %q`, code)) || strings.Contains(stderr, `"hint": ""`) || strings.Contains(stdout, `"result"`) {
		s.Errorf("%q exits with %d, want %s:\n%s%s", args, got, code, stdout, stderr)
	}
}

// await waits until the status of a task has a text.
func (s site) await(id, text string) {
	s.Helper()
	for !strings.Contains(s.want(0, "status", id), text) {
		select {
		case <-s.Context().Done():
			s.Fatal(s.Context().Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// decide is a home whose tasks go through a draft and then end as their ids say.
func decide(_ context.Context, m flow.Move) (flow.Position, error) {
	p := flow.Position{Status: task.Open, Round: 1, MaxRounds: 3, Order: "sha256:o", Queue: fleettest.Queue}
	kind, _, _ := strings.Cut(m.Task, "-")
	switch {
	case m.Stop != "":
		p.Step.Kind, p.Status, p.NextAction, p.Reason = task.StepStuck, task.Stuck, "stuck", m.Stop
	case kind == "asks" && len(m.Answers) == 0:
		p.Step.Kind, p.Status = task.StepAsk, task.Waiting
		p.Question = &flow.Question{Fingerprint: "51441088a31719cd", Text: "Which port shall it be?", Choices: []string{"80", "443"}}
	case kind == "stuck":
		p.Step.Kind, p.Status, p.NextAction, p.Reason = task.StepStuck, task.Stuck, "stuck", "max-rounds"
	case kind == "fails":
		return p, flow.Final(errs.New(errs.TaskNoText, "%s has no text", m.Task))
	case m.Result == "" && kind != "asks":
		p.Step = task.Step{Kind: task.StepDraft, Role: task.RoleExecutor}
	default:
		p.Step.Kind, p.Status, p.NextAction, p.Commit, p.Subject = task.StepDone, task.Committed, "commit", "3f2a90c1d4e5", "Do it"
	}
	return p, nil
}

func TestCommands(t *testing.T) {
	server := fleettest.Server(t)
	(&fleettest.Script{Decide: decide}).Start(t, server.Client())
	newFleet := func(t *testing.T) site { return newSite(t, server.FrontendHostPort()) }

	t.Run("run", func(t *testing.T) {
		s := newFleet(t)
		out := s.want(0, "run", "plain-1", "--prompt", "Do it.", "--store", s.store)
		for _, text := range []string{"committed  3f2a90c1d4e5  Do it\n", "commit  plain-1, round 1 of 3\n"} {
			if !strings.Contains(out, text) {
				t.Errorf("the output lacks %q:\n%s", text, out)
			}
		}
		out = s.wantJSON(14, "run", "run", "stuck-1", "--prompt", "Do it.", "--store", s.store)
		if !strings.Contains(out, `"event":"ended"`) || !strings.Contains(out, `"reason":"max-rounds"`) {
			t.Errorf("the output is\n%s", out)
		}
		s.want(14, "run", "stuck-1", "--store", s.store)
		s.refuse(errs.TaskNoText, "run", "fails-1", "--store", s.store)
	})
	t.Run("tasks", func(t *testing.T) {
		s := newFleet(t)
		file := "tasks:\n" +
			"  - {id: last, prompt: Do it., depends_on: [plain-2, middle]}\n" +
			"  - {id: middle, prompt: Do it., depends_on: [plain-2]}\n" +
			"  - {id: plain-2, prompt: Do it.}\n" +
			"  - {id: blocked, prompt: Do it., depends_on: [stuck-2]}\n" +
			"  - {id: stuck-2, prompt: Do it.}\n"
		if err := os.WriteFile(filepath.Join(s.dir, "tasks.yaml"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		out := s.want(14, "run", "--tasks", "tasks.yaml", "--store", s.store)
		if !strings.HasPrefix(out, "last  started\nmiddle  started\nplain-2  started\nblocked  started\nstuck-2  started\n") {
			t.Errorf("the output does not begin with the tasks:\n%s", out)
		}
		_, table, _ := strings.Cut(out, "TASK ")
		for _, row := range []string{"last     commit ", "middle   commit ", "plain-2  commit ", "blocked  blocked ", "stuck-2  stuck "} {
			if !strings.Contains(table, row) {
				t.Errorf("the table lacks %q:\n%s", row, out)
			}
		}
		s.wantJSON(0, "fleet-status", "status")
		list := s.want(0, "status")
		if !strings.Contains(list, "stuck-2 ") || !strings.Contains(list, "stuck-2 is not committed") {
			t.Errorf("the status is\n%s", list)
		}
		s.refuse(errs.TasksInvalid, "run", "--tasks", writeFile(t, s.dir, "bad.yaml", "tasks: [{id: a}]"), "--store", s.store)
	})
	t.Run("answer", func(t *testing.T) {
		s := newFleet(t)
		if out := s.want(0, "run", "asks-1", "--prompt", "Do it.", "--store", s.store, "--detach"); out != "asks-1  started\n" {
			t.Errorf("the output is %q", out)
		}
		s.await("asks-1", "Which port shall it be?")
		if out := s.want(0, "run", "asks-1", "--store", s.store, "--detach"); out != "asks-1  notice  runs already\n" {
			t.Errorf("the output is %q", out)
		}
		if out := s.want(0, "status", "asks-1"); !strings.Contains(out, "next: switchyard-fleet answer asks-1 --choice N") {
			t.Errorf("the status is\n%s", out)
		}
		s.refuse(errs.AnswerInvalid, "answer", "asks-1", "--choice", "3")
		s.refuse(errs.AnswerInvalid, "answer", "asks-1", "--text", strings.Repeat("x", flow.MaxAnswer+1))
		s.refuse(errs.AnswerInvalid, "answer", "asks-1", "--text", " ")
		s.refuse(errs.AnswerInvalid, "answer", "asks-1", "--text", "\xff")
		s.wantJSON(0, "fleet-status", "status", "asks-1")
		s.wantJSON(0, "fleet-answer", "answer", "asks-1", "--choice", "2")
		s.await("asks-1", "commit  asks-1")
		s.refuse(errs.FleetNoQuestion, "answer", "asks-1", "--choice", "2")
		s.refuse(errs.FleetTaskUnknown, "answer", "asks-2", "--choice", "2")
	})
	t.Run("stop", func(t *testing.T) {
		s := newFleet(t)
		out := s.wantJSON(0, "run", "run", "asks-3", "--prompt", "Do it.", "--store", s.store, "--detach")
		if !strings.HasPrefix(out, `{"task_id":"asks-3","event":"started","at":"`) || strings.Count(out, "\n") != 1 {
			t.Errorf("the output is %q", out)
		}
		s.await("asks-3", "waiting  asks-3")
		s.wantJSON(0, "fleet-stop", "stop", "asks-3")
		s.await("asks-3", "because stopped")
		s.refuse(errs.FleetTaskEnded, "stop", "asks-3")
		s.refuse(errs.FleetTaskUnknown, "status", "asks-4")
	})
	t.Run("interrupt", func(t *testing.T) {
		s := newFleet(t)
		s.want(0, "run", "asks-5", "--prompt", "Do it.", "--store", s.store, "--detach")
		s.await("asks-5", "waiting  asks-5")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		code, _, stderr := s.run(ctx, "run", "asks-5", "--store", s.store)
		if code != cli.ExitFault || !strings.Contains(stderr, "the tasks go on in the fleet [interrupted]") {
			t.Errorf("it exits with %d: %s", code, stderr)
		}
		s.await("asks-5", "waiting  asks-5")
		if err := server.Client().TerminateWorkflow(t.Context(), flow.WorkflowID(fleettest.Project, "asks-5"), "", "a test"); err != nil {
			t.Fatal(err)
		}
		if out := s.want(0, "status", "asks-5"); !strings.Contains(out, string(errs.FleetTaskTerminated)) {
			t.Errorf("the status is\n%s", out)
		}
	})
	t.Run("server", func(t *testing.T) {
		s := newFleet(t)
		s.refuse(errs.FleetNamespaceUnknown, "status", "--namespace", "nowhere")
		namespace, err := client.NewNamespaceClient(client.Options{HostPort: server.FrontendHostPort()})
		if err != nil {
			t.Fatal(err)
		}
		defer namespace.Close()
		err = namespace.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{Namespace: "bare", WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for code := errs.FleetNamespaceUnknown; code == errs.FleetNamespaceUnknown; { // A new namespace is not known at once.
			_, _, stderr := s.run(t.Context(), "status", "x", "--namespace", "bare")
			if !strings.Contains(stderr, string(code)) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.refuse(errs.FleetAttributesMissing, "run", "plain-9", "--prompt", "Do it.", "--store", s.store, "--namespace", "bare")
		t.Setenv("TEMPORAL_TLS", "true")
		s.refuse(errs.FleetServerUntrusted, "status")
	})
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestConnectionErrors needs no server.
func TestConnectionErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refuses := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		return status.Error(codes.Unauthenticated, "Request unauthorized.")
	}))
	go func() { _ = refuses.Serve(listener) }()
	defer refuses.Stop()
	s := newSite(t, listener.Addr().String())
	s.refuse(errs.FleetServerRefused, "status")
	s.refuse(errs.FleetServerUnreachable, "status", "--address", "127.0.0.1:1")
	t.Setenv("TEMPORAL_PROFILE", "nowhere")
	s.refuse(errs.FleetConnectionInvalid, "status")
}

func TestUsage(t *testing.T) {
	s := newSite(t, "127.0.0.1:1")
	for _, args := range [][]string{
		{"rnu"}, {"run"}, {"run", "A"}, {"run", "A", "B", "--store", "s"}, {"run", "A", "--store", ""}, {"run", "A", "--tasks", "t", "--store", "s"},
		{"run", "--tasks", "t", "--prompt", "x", "--store", "s"}, {"run", "A", "--prompt", "x", "--prompt-file", "y", "--store", "s"},
		{"run", "A", "--verify-cmd", " ", "--store", "s"}, {"run", "A", "--prompt", "x", "--store", "s", "--project", "a b"},
		{"answer", "A"}, {"answer", "A", "--choice", "0"}, {"answer", "A", "--choice", "1", "--text", "x"}, {"stop"}, {"status", "A", "B"},
		{"worker"}, {"worker", "--store", "s", "--build-id", "1"}, {"worker", "--store", "s", "--web.config.file", "w"}, {"ledger", "x", "--store", "s"}, {"help", "rnu"},
	} {
		s.refuse(errs.Usage, args...)
	}
	for _, args := range [][]string{{}, {"help"}, {"run", "--help"}, {"help", "worker"}, {"--version"}} {
		if out := s.want(0, args...); !strings.Contains(out, "switchyard-fleet") {
			t.Errorf("%q prints %q", args, out)
		}
	}
}

// TestUpgrade runs workers of two builds: a task ends with the build that it began with,
// and new tasks begin with the build that is current.
func TestUpgrade(t *testing.T) {
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "ada@example.org")
	}
	server := fleettest.Server(t)
	c := server.Client()
	s := newSite(t, server.FrontendHostPort())
	(&fleettest.Script{Decide: decide}).Serve(t, c, flow.HomeQueue(fleettest.Project), fleettest.Queue)
	deployment := c.WorkerDeploymentClient().GetHandle("shop")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 2)
	deploy := func(build string) {
		t.Helper()
		go func() {
			ended <- command.Run(ctx, []string{"-C", s.dir, "worker", "--store", s.store, "--dir", t.TempDir(), "--deployment", "shop", "--build-id", build}, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
		}()
		for { // A build can be made current once its workers have polled.
			_, err := deployment.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
			if err == nil {
				return
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case code := <-ended:
				t.Fatalf("worker %s exits with %d", build, code)
			}
		}
	}
	deploy("1")
	s.want(0, "run", "asks-old", "--prompt", "Do it.", "--store", s.store, "--detach")
	s.await("asks-old", "waiting  asks-old")
	deploy("2")
	s.want(0, "run", "asks-new", "--prompt", "Do it.", "--store", s.store, "--detach")
	s.await("asks-new", "waiting  asks-new")
	for id, build := range map[string]string{"asks-old": "1", "asks-new": "2"} {
		s.want(0, "answer", id, "--choice", "1")
		s.await(id, "commit  "+id)
		d, err := c.DescribeWorkflowExecution(t.Context(), flow.WorkflowID(fleettest.Project, id), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.WorkflowExecutionInfo.GetVersioningInfo().GetDeploymentVersion().GetBuildId(); got != build {
			t.Errorf("%s ended with build %q, want %q", id, got, build)
		}
	}
	cancel()
	for range 2 {
		if code := <-ended; code != 0 {
			t.Errorf("a worker exits with %d", code)
		}
	}
}
