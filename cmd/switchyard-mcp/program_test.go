package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// programFolder has the programs, once a test has built them.
var programFolder string

var buildPrograms = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "switchyard-mcp-")
	if err != nil {
		return err
	}
	programFolder = dir
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../switchyard", ".").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// site is a project and the programs.
type site struct {
	t   *testing.T
	dir string
	env []string
}

func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("short mode: the programs are not built")
	}
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: t.TempDir(), env: append(os.Environ(), "SWITCHYARD_USER=ann")}
	if err := os.Mkdir(filepath.Join(s.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// command returns a command of switchyard.
func (s *site) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(programFolder, "switchyard"), args...)
	c.Dir, c.Env = s.dir, s.env
	return c
}

// json runs a command with --output json and returns its output.
func (s *site) json(args ...string) any {
	s.t.Helper()
	out, err := s.command(append([]string{"--output", "json"}, args...)...).Output()
	if err != nil {
		s.t.Fatalf("%s: %v", args, err)
	}
	var value any
	if err := json.Unmarshal(out, &value); err != nil {
		s.t.Fatal(err)
	}
	return value
}

// connect connects a client to switchyard mcp.
func (s *site) connect(options *mcp.ClientOptions, args ...string) *mcp.ClientSession {
	s.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, options)
	session, err := client.Connect(s.t.Context(), &mcp.CommandTransport{Command: s.command(append([]string{"mcp"}, args...)...)}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return session
}

// call calls a tool that has to succeed and returns its structured content, which the
// schema of a command describes.
func (s *site) call(session *mcp.ClientSession, schema, tool string, arguments any) (structured map[string]any, text string) {
	s.t.Helper()
	r, err := session.CallTool(s.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if r.IsError != (schema == "error") {
		s.t.Fatalf("%s: %s", tool, text)
	}
	structured = r.StructuredContent.(map[string]any)
	data, err := os.ReadFile("../../docs/schema/" + schema + ".schema.json")
	if err != nil {
		s.t.Fatal(err)
	}
	var described jsonschema.Schema
	if err := json.Unmarshal(data, &described); err != nil {
		s.t.Fatal(err)
	}
	resolved, err := described.Resolve(nil)
	if err == nil {
		err = resolved.Validate(structured)
	}
	if err != nil {
		s.t.Errorf("the result of %s is not that of %s: %v", tool, schema, err)
	}
	return structured, text
}

// code returns the code of a tool's error.
func (s *site) code(session *mcp.ClientSession, tool string, arguments map[string]any) errs.Code {
	s.t.Helper()
	structured, text := s.call(session, "error", tool, arguments)
	e := structured["error"].(map[string]any)
	if e["hint"] == "" || !strings.Contains(text, e["message"].(string)) {
		s.t.Errorf("%s failed with %v, and says %q", tool, e, text)
	}
	return errs.Code(e["code"].(string))
}

const (
	fails = `{"critic": "critic", "findings": [{"category": "style", "file": "a.go", "line": 1, "remediation": "Rename it"}]}`
	asks  = `{"critic": "critic", "findings": [{"category": "question-to-user", "remediation": "x", "question_to_user": {"question": "Which port?"}},
		{"category": "style", "remediation": "y"}]}`
	offers  = `{"critic": "critic", "findings": [{"category": "question-to-user", "remediation": "x", "question_to_user": {"question": "Which port?", "choices": ["80", "443"]}}]}`
	isClean = `{"critic": "critic", "findings": []}`
)

func TestListTools(t *testing.T) {
	s := newSite(t, nil)
	reading := []string{"explain", "findings", "next", "status"}
	for name, want := range map[string][]string{"": reading, "--allow-mutations": {"answer", "explain", "findings", "next", "status", "submit_report"}} {
		var args []string
		if name != "" {
			args = append(args, name)
		}
		session := s.connect(nil, args...)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Annotations.ReadOnlyHint != slices.Contains(reading, tool.Name) {
				t.Errorf("%s is read-only: %v", tool.Name, tool.Annotations.ReadOnlyHint)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("mcp %s has %s, want %s", name, names, want)
		}
		if server := session.InitializeResult().ServerInfo; server.Name != "switchyard" || server.Version == "" {
			t.Errorf("the server is %+v", server)
		}
	}
	if _, err := s.connect(nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "answer", Arguments: map[string]any{"task": "T", "text": "x"}}); err == nil {
		t.Error("answer can be called without --allow-mutations")
	}
}

// TestResultsOfCommands tests that the tools that read return what the commands print.
func TestResultsOfCommands(t *testing.T) {
	s := newSite(t, map[string]string{"fails.json": fails, "clean.json": isClean})
	s.json("round", "T", "--report", "fails.json")
	s.json("round", "T", "--report", "clean.json")
	s.json("round", "E", "--report", "fails.json")
	session := s.connect(nil)
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		command   []string
	}{
		{"status", nil, []string{"status"}},
		{"status", map[string]any{"task": "E"}, []string{"status", "E"}},
		{"findings", map[string]any{"task": "E"}, []string{"findings", "E"}},
		{"findings", map[string]any{"task": "T", "round": 1}, []string{"findings", "T", "--round", "1"}},
		{"findings", map[string]any{"task": "T", "deferred": true}, []string{"findings", "T", "--deferred"}},
		{"explain", map[string]any{"task": "T"}, []string{"explain", "T"}},
		{"explain", map[string]any{"task": "T", "round": jsontext.Value("1.0")}, []string{"explain", "T", "--round", "1"}},
		{"explain", map[string]any{"task": "T", "round": nil}, []string{"explain", "T"}},
	} {
		got, text := s.call(session, test.command[0], test.tool, test.arguments)
		if want := s.json(test.command...); !reflect.DeepEqual(any(got), want) {
			t.Errorf("%s is\n%v\nand the command prints\n%v", test.command, got, want)
		}
		out, err := s.command(test.command...).Output()
		if err != nil || string(out) != text {
			t.Errorf("the text of %s is\n%s\nand the command prints (%v)\n%s", test.command, text, err, out)
		}
	}

	next, text := s.call(session, "mcp-next", "next", map[string]any{"task": "E"})
	path := filepath.Join(s.dir, ".switchyard/handoff/E-r2-findings.md")
	handoff, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"task_id": "E", "status": "open", "round": 2.0, "next": "give .switchyard/handoff/E-r2-findings.md to the executor", "then": "switchyard round E",
		"handoff": ".switchyard/handoff/E-r2-findings.md", "handoff_text": string(handoff),
	}
	if !reflect.DeepEqual(next, want) || !strings.Contains(text, "\nthen: switchyard round E\n") || !strings.Contains(text, "Rename it") {
		t.Errorf("next is %v: %s", next, text)
	}
	if err := os.Truncate(path, maxHandoff+1); err != nil {
		t.Fatal(err)
	}
	delete(want, "handoff_text")
	if next, _ := s.call(session, "mcp-next", "next", map[string]any{"task": "E"}); !reflect.DeepEqual(next, want) {
		t.Errorf("next with a large handoff is %v", next)
	}
	if next, _ := s.call(session, "mcp-next", "next", map[string]any{"task": "T"}); next["next"] != "" || next["handoff"] != nil {
		t.Errorf("after the commit comes %v", next)
	}
}

// TestMutations tests the tools that record, and that they record the user and export the
// metrics.
func TestMutations(t *testing.T) {
	s := newSite(t, map[string]string{"switchyard.yaml": "metrics:\n  textfile: out.prom\n"})
	var progress []float64
	var mu sync.Mutex
	session := s.connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, r.Params.Progress)
	}}, "--allow-mutations")

	decided, text := s.call(session, "round", "submit_report", map[string]any{"task": "T", "report": asks, "format": "np-critic", "round": 1})
	if decided["next_action"] != "askuser" || !strings.Contains(text, "Which port?") {
		t.Errorf("decided %v: %s", decided["next_action"], text)
	}
	questions := decided["questions"].([]any)
	id := questions[0].(map[string]any)["fingerprint"]
	if code := s.code(session, "answer", map[string]any{"task": "T", "question": "0123456789abcdef", "text": "80"}); code != errs.QuestionUnknown {
		t.Errorf("an answer to no question: %s", code)
	}
	if result, _ := s.call(session, "answer", "answer", map[string]any{"task": "T", "question": id, "text": " 80\n"}); result["recorded"] == nil {
		t.Error("the answer was not recorded")
	}
	// What the executor gets is the answer, and the findings that are not questions.
	next, text := s.call(session, "mcp-next", "next", map[string]any{"task": "T"})
	if given := next["answers"].([]any)[0].(map[string]any); given["text"] != "80" || given["question"] != "Which port?" || !strings.Contains(text, "80, by ann") {
		t.Errorf("next is %v: %s", next, text)
	}
	if want := "give the answer to the executor, with the open findings of switchyard findings T"; next["next"] != want {
		t.Errorf("next is %q, want %q", next["next"], want)
	}
	params := &mcp.CallToolParams{Name: "submit_report", Arguments: map[string]any{"task": "T", "report": isClean}}
	params.SetProgressToken("p")
	if r, err := session.CallTool(t.Context(), params); err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	explained, _ := s.call(session, "explain", "explain", map[string]any{"task": "T", "round": 1})
	answer := explained["answers"].([]any)[0].(map[string]any)
	if answer["by"] != "ann" || answer["text"] != "80" || explained["by"] != "ann" {
		t.Errorf("decided by %v, answered with %v", explained["by"], answer)
	}
	if status, _ := s.call(session, "status", "status", map[string]any{"task": "T"}); status["status"] != "committed" {
		t.Errorf("the task is %v", status["status"])
	}
	if out, err := s.command("ledger", "verify").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := session.Close(); err != nil { // The server ends after the last update.
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "out.prom")); err != nil || !strings.Contains(string(text), "\nswitchyard_tasks{status=\"committed\"} 1\n") {
		t.Errorf("the metrics are (%v)\n%s", err, text)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(progress, []float64{0, 1}) {
		t.Errorf("progress %v", progress)
	}
}

func TestToolErrors(t *testing.T) {
	s := newSite(t, map[string]string{"fails.json": fails})
	s.json("round", "T", "--report", "fails.json")
	session := s.connect(nil, "--allow-mutations")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      errs.Code
	}{
		{"status", map[string]any{"task": "X"}, errs.TaskNotFound},
		{"status", map[string]any{"task": 3}, errs.MCPArgumentsInvalid},
		{"findings", map[string]any{"task": "T", "round": 7}, errs.RoundNotFound},
		{"findings", map[string]any{"task": "T", "round": -1}, errs.MCPArgumentsInvalid},
		{"explain", map[string]any{"task": "T", "color": true}, errs.MCPArgumentsInvalid},
		{"findings", map[string]any{"task": "T", "round": 0}, errs.MCPArgumentsInvalid},
		{"findings", map[string]any{}, errs.MCPArgumentsInvalid},
		{"findings", map[string]any{"task": nil}, errs.MCPArgumentsInvalid},
		{"explain", map[string]any{"task": "T", "round": 0}, errs.MCPArgumentsInvalid},
		{"explain", map[string]any{"task": "T", "round": 1.5}, errs.MCPArgumentsInvalid},
		{"next", nil, errs.MCPArgumentsInvalid},
		{"status", map[string]any{"task": ""}, errs.MCPArgumentsInvalid},
		{"submit_report", map[string]any{"task": "T", "report": isClean, "format": ""}, errs.MCPArgumentsInvalid},
		{"submit_report", map[string]any{"task": "T", "report": isClean, "format": "../np-critic.wasm"}, errs.MCPArgumentsInvalid},
		{"submit_report", map[string]any{"task": "T", "report": isClean, "format": "no-such-plugin"}, errs.PluginUnknown},
		{"answer", map[string]any{"task": "T", "choice": 1, "text": ""}, errs.MCPArgumentsInvalid},
		{"next", map[string]any{"task": ""}, errs.TaskInvalidID},
		{"submit_report", map[string]any{"task": "T"}, errs.MCPArgumentsInvalid},
		{"submit_report", map[string]any{"task": "T", "report": isClean, "round": 0}, errs.MCPArgumentsInvalid},
		{"submit_report", map[string]any{"task": "T", "report": "no report"}, errs.ReportInvalidJSON},
		{"submit_report", map[string]any{"task": "T", "report": isClean, "round": 1}, errs.RoundShifted},
		{"submit_report", map[string]any{"task": "T", "report": `"` + strings.Repeat("x", 32<<20) + `"`}, errs.ReportTooLarge},
		{"answer", map[string]any{"task": "T", "text": "x"}, errs.TaskNotWaiting},
		{"answer", map[string]any{"task": "T", "choice": 1}, errs.TaskNotWaiting},
		{"answer", map[string]any{"task": "T", "choice": 0}, errs.MCPArgumentsInvalid},
		{"answer", map[string]any{"task": "T", "choice": 1, "text": "x"}, errs.MCPArgumentsInvalid},
		{"answer", map[string]any{"task": "T"}, errs.MCPArgumentsInvalid},
	} {
		if got := s.code(session, test.tool, test.arguments); got != test.want {
			t.Errorf("%s %.100v: %s, want %s", test.tool, test.arguments, got, test.want)
		}
	}
}

// TestArgumentsInWords tests that the reasons do not quote our types or the schema's.
func TestArgumentsInWords(t *testing.T) {
	s := newSite(t, nil)
	session := s.connect(nil, "--allow-mutations")
	for _, test := range []struct {
		tool, arguments, want string
	}{
		{"findings", `{"task": "T", "round": 0}`, "round must be an integer from 1 to 65535"},
		{"findings", `{"task": "T", "round": 1.5}`, "round must be an integer from 1 to 65535"},
		{"findings", `{"task": "T", "deferred": "yes"}`, "deferred must be true or false"},
		{"submit_report", `{"task": "T", "report": {"critic": "critic"}}`, "report must be a string"},
		{"submit_report", `{"task": "T"}`, "report is missing"},
		{"findings", `{"task": null}`, "task is missing"},
		{"status", `{"task": ""}`, "task is empty"},
		{"explain", `{"task": "T", "color": true}`, `there is no argument "color"`},
		{"submit_report", `{"task": "T", "report": "", "format": "a/b.wasm"}`, "format must be the name of a plugin, and not a path"},
		{"answer", `{"task": "T"}`, "give choice or text"},
		{"answer", `{"task": "T", "choice": 1, "text": "x"}`, "give choice or text, and not both"},
	} {
		structured, _ := s.call(session, "error", test.tool, jsontext.Value(test.arguments))
		message := structured["error"].(map[string]any)["message"]
		if want := "the arguments do not fit the tool: " + test.want; message != want {
			t.Errorf("%s %s: %q, want %q", test.tool, test.arguments, message, want)
		}
	}
}

func TestChoose(t *testing.T) {
	s := newSite(t, map[string]string{"offers.json": offers})
	s.json("round", "T", "--report", "offers.json")
	session := s.connect(nil, "--allow-mutations")
	if code := s.code(session, "answer", map[string]any{"task": "T", "choice": 3}); code != errs.AnswerInvalid {
		t.Errorf("a choice that the question does not have: %s", code)
	}
	s.call(session, "answer", "answer", map[string]any{"task": "T", "choice": 2})
	explained, _ := s.call(session, "explain", "explain", map[string]any{"task": "T"})
	if answer := explained["answers"].([]any)[0].(map[string]any); answer["choice"] != 2.0 || answer["text"] != "443" {
		t.Errorf("answered with %v", answer)
	}
}

// TestSpawnedAgent tests that an agent that Switchyard spawned can read and not decide.
func TestSpawnedAgent(t *testing.T) {
	s := newSite(t, map[string]string{"asks.json": asks})
	s.json("round", "T", "--report", "asks.json")
	s.env = append(s.env, "SWITCHYARD_HEADLESS=1")
	session := s.connect(nil, "--allow-mutations")
	s.call(session, "status", "status", map[string]any{"task": "T"})
	for tool, arguments := range map[string]map[string]any{
		"submit_report": {"task": "U", "report": isClean},
		"answer":        {"task": "T", "text": "80"},
	} {
		if code := s.code(session, tool, arguments); code != errs.SpawnReentrant {
			t.Errorf("%s: %s", tool, code)
		}
	}
}

// TestCancelRound tests that a cancelled round ends and is not recorded, whatever it waits
// for.
func TestCancelRound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the verification needs sh, which Windows does not have")
	}
	t.Run("verification", func(t *testing.T) {
		s := newSite(t, map[string]string{"switchyard.yaml": "verify:\n  command: sleep 60\n"})
		cancelRound(s, func() {})
	})
	t.Run("ledger", func(t *testing.T) {
		s := newSite(t, map[string]string{"clean.json": isClean})
		s.json("round", "U", "--report", "clean.json")
		db, err := sql.Open("sqlite", filepath.Join(s.dir, ".switchyard", "ledger.db")+"?_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		cancelRound(s, func() { _ = tx.Rollback() })
	})
}

// cancelRound cancels a round that waits, and calls waited after its end.
func cancelRound(s *site, waited func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	session := s.connect(&mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
		time.AfterFunc(500*time.Millisecond, cancel)
	}}, "--allow-mutations")
	params := &mcp.CallToolParams{Name: "submit_report", Arguments: map[string]any{"task": "T", "report": isClean}}
	params.SetProgressToken("p")
	if _, err := session.CallTool(ctx, params); !errors.Is(err, context.Canceled) {
		s.t.Errorf("the call ended with %v", err)
	}
	begin := time.Now()
	if err := session.Close(); err != nil { // The server waits for its calls.
		s.t.Error(err)
	}
	took := time.Since(begin)
	s.t.Logf("the server ended %s after the call was cancelled", took)
	if took > 5*time.Second { // A busy machine can take longer than a second.
		s.t.Error("that is too late")
	}
	waited()
	if code := s.code(s.connect(nil), "status", map[string]any{"task": "T"}); code != errs.TaskNotFound {
		s.t.Errorf("after the cancelled round: %s", code)
	}
}

// TestFloodOfProgram floods the real program.
func TestFloodOfProgram(t *testing.T) {
	s := newSite(t, map[string]string{"fails.json": fails})
	s.json("round", "T", "--report", "fails.json")
	flood(t, s.connect(nil))
}

// TestReportsAtOnce tests that only one of several reports of a round decides it.
func TestReportsAtOnce(t *testing.T) {
	s := newSite(t, nil)
	session := s.connect(nil, "--allow-mutations")
	var decided atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "submit_report", Arguments: map[string]any{"task": "T", "report": fails, "round": 1}})
			switch {
			case err != nil:
				t.Error(err)
			case !r.IsError:
				decided.Add(1)
			case !strings.Contains(fmt.Sprint(r.StructuredContent), string(errs.RoundShifted)):
				t.Errorf("refused with %v", r.StructuredContent)
			}
		})
	}
	all.Wait()
	if n := decided.Load(); n != 1 {
		t.Errorf("%d reports decided the round", n)
	}
	if out, err := s.command("ledger", "verify").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestEnds tests how the server ends on inputs that are not those of a client.
func TestEnds(t *testing.T) {
	s := newSite(t, nil)
	half := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"na`
	for name, test := range map[string]struct {
		input string
		want  errs.Code
	}{
		"no input":      {"", ""},
		"early close":   {initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}` + "\n", ""},
		"half":          {initialize + "\n" + half, errs.MCPMessageInvalid},
		"garbage":       {"GET / HTTP/1.1\r\n\r\n", errs.MCPMessageInvalid},
		"binary":        {"\x00\xff\xfe", errs.MCPMessageInvalid},
		"other JSON":    {"[1, 2]\n", errs.MCPMessageInvalid},
		"no version":    {`{"id":1,"method":"ping"}` + "\n", errs.MCPMessageInvalid},
		"deep":          {strings.Repeat("[", 1<<20), errs.MCPMessageInvalid},
		"too large":     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxMessage) + "\"}}\n", errs.MCPMessageInvalid},
		"never a break": {strings.Repeat(" ", maxMessage+1), errs.MCPMessageInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.command("--output", "json", "mcp")
			var stdout, stderr bytes.Buffer
			c.Stdin, c.Stdout, c.Stderr = strings.NewReader(test.input), &stdout, &stderr
			err := c.Run()
			if test.want == "" {
				if err != nil || stderr.Len() > 0 {
					t.Errorf("%v: %s", err, &stderr)
				}
			} else if c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), `"`+string(test.want)+`"`) {
				t.Errorf("exit status %d: %s", c.ProcessState.ExitCode(), &stderr)
			}
			if name == "early close" && strings.Count(stdout.String(), `"result"`) != 2 {
				t.Errorf("the answers are %s", &stdout)
			}
			for line := range strings.Lines(stdout.String()) {
				if !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) {
					t.Errorf("standard output has %q", line)
				}
			}
		})
	}
}

// TestDeafClient tests a client that closes its end of standard output alone.
func TestDeafClient(t *testing.T) {
	s := newSite(t, nil)
	c := s.command("--output", "json", "mcp")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = theirs, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	theirs.Close()
	fmt.Fprintln(stdin, initialize)
	if c.Wait(); c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), `"output-failed"`) {
		t.Errorf("%s: %s", c.ProcessState, &stderr)
	}
}

// TestSignal tests that a signal to switchyard ends the server.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	s := newSite(t, nil)
	c := s.command("mcp")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, initialize)
	if _, err := io.ReadAtLeast(stdout, make([]byte, 4096), 1); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if c.Wait(); c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "[interrupted]") {
		t.Errorf("%s: %s", c.ProcessState, &stderr)
	}
}

// TestMissingServer tests switchyard without the program of the server.
func TestMissingServer(t *testing.T) {
	s := newSite(t, nil)
	alone := filepath.Join(t.TempDir(), "switchyard")
	if err := os.Link(filepath.Join(programFolder, "switchyard"), alone); err != nil {
		t.Skipf("the program cannot be linked into the temporary directory: %v", err)
	}
	c := exec.Command(alone, "mcp")
	c.Dir, c.Env = s.dir, append(s.env, "PATH="+t.TempDir())
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "["+string(errs.MCPServerMissing)+"]") || !strings.Contains(string(out), "go install ./cmd/switchyard-mcp") {
		t.Errorf("%v: %s", err, out)
	}
}
