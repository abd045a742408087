package fakeagent_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

func TestMain(m *testing.M) { os.Exit(fakeagent.Prebuilt(m).Run()) }

// runner is a directory with a script, in which the fake agent is called.
type runner struct {
	dir, script string
}

func newStage(t *testing.T, scenarios ...fakeagent.Scenario) runner {
	t.Helper()
	dir := t.TempDir()
	return runner{dir, fakeagent.Write(t, dir, scenarios...)}
}

// path returns the path of a file in the runner's directory.
func (s runner) path(name string) string { return filepath.Join(s.dir, name) }

// prompt returns a prompt for round 2 of task T-1.
func (s runner) prompt() string {
	return "You review.\ntask_id: another\n---\ntask_id: T-1\nround: 2\nrun_id: r-9\nreport_path: " + s.path("report.json") + "\nThat is all.\n"
}

// command returns a call of the agent that is not started yet.
func (s runner) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), fakeagent.Build(t), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), fakeagent.ScenarioVariable+"="+s.script)
	cmd.Stdin = strings.NewReader(s.prompt())
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// call calls the agent and returns its output and exit code.
func (s runner) call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := s.command(t, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exited *exec.ExitError
	if e := cmd.Run(); e != nil && !errors.As(e, &exited) {
		t.Fatal(e)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// object decodes a JSON object.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return o
}

// lastLine returns the last line of an output.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestCriticWritesReportAndEnvelope(t *testing.T) {
	s := newStage(t, fakeagent.Finds(
		fakeagent.Finding{Category: "missing-test", Remediation: "Test it"},
		fakeagent.Finding{Category: "style", Severity: "nit", File: "a.go", Line: 3, Remediation: "Rename it"}))
	stdout, stderr, code := s.call(t, "-p", "--output-format", "stream-json")
	if code != 0 || stderr != "" {
		t.Fatalf("code %d, %s", code, stderr)
	}
	data, err := os.ReadFile(s.path("report.json"))
	if err != nil {
		t.Fatal(err)
	}
	report := object(t, string(data))
	if report["task_id"] != "T-1" || report["round"] != 2.0 || report["verdict"] != "issues_found" || len(report["findings"].([]any)) != 2 {
		t.Errorf("report %v", report)
	}
	result := object(t, lastLine(stdout))
	if result["type"] != "result" || result["is_error"] != false || result["total_cost_usd"] != 0.0016 {
		t.Errorf("result %v", result)
	}
	// A finding without a severity is a blocker; a nit is not.
	said := object(t, result["result"].(string))
	if said["blockers_count"] != 1.0 || said["verdict"] != "issues_found" || said["run_id"] != "r-9" || said["report_path"] != s.path("report.json") {
		t.Errorf("envelope %v", said)
	}
	calls := fakeagent.Calls(t, s.script)
	if len(calls) != 1 || string(calls[0].Stdin) != s.prompt() || !slices.Contains(calls[0].Argv, "--output-format") {
		t.Errorf("calls %+v", calls)
	}
	if v, ok := calls[0].Variable(fakeagent.ScenarioVariable); !ok || v != s.script {
		t.Errorf("variable %q", v)
	}
}

func TestFinalMessageAsReported(t *testing.T) {
	text := "nothing to see"
	for name, test := range map[string]struct {
		final fakeagent.Final
		want  func(said string) bool
	}{
		"text":  {fakeagent.Final{Text: &text}, func(s string) bool { return s == text }},
		"fence": {fakeagent.Final{Wrap: "fence"}, func(s string) bool { return strings.HasPrefix(s, "```json\n{") && strings.HasSuffix(s, "}\n```") }},
		"prose": {fakeagent.Final{Wrap: "prose"}, func(s string) bool { return strings.HasPrefix(s, "The review") && strings.Contains(s, `{"blockers`) }},
		"twice": {fakeagent.Final{Wrap: "twice"}, func(s string) bool { return strings.Count(s, `"task_id":"T-1"`) == 2 }},
		"no path": {fakeagent.Final{Object: fakeagent.Object{Set: map[string]any{"report_path": nil}, Without: []string{"run_id"}}},
			func(s string) bool {
				return strings.Contains(s, `"report_path":null`) && !strings.Contains(s, "run_id")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Final: &test.final}))
			stdout, _, _ := s.call(t, "-p", "--output-format", "stream-json")
			if said := object(t, lastLine(stdout))["result"].(string); !test.want(said) {
				t.Errorf("said %q", said)
			}
		})
	}
}

func TestReportAsReported(t *testing.T) {
	garbage := "not JSON about {task_id}"
	s := newStage(t, fakeagent.Plays(
		fakeagent.Step{Read: &fakeagent.Read{}},
		fakeagent.Step{Report: &fakeagent.Report{Path: "old.json", Age: fakeagent.Duration(time.Hour)}},
		fakeagent.Step{Report: &fakeagent.Report{Path: "garbage.json", Text: &garbage}},
		fakeagent.Step{Report: &fakeagent.Report{Path: "link.json", Link: "target.json"}},
		fakeagent.Step{Report: &fakeagent.Report{Object: fakeagent.Object{Set: map[string]any{"round": 7}, Without: []string{"criteria"}}}},
	))
	if _, stderr, code := s.call(t); code != 0 {
		t.Fatal(stderr)
	}
	if info, err := os.Stat(s.path("old.json")); err != nil || time.Since(info.ModTime()) < 59*time.Minute {
		t.Errorf("old: %v, %v", info, err)
	}
	if data, err := os.ReadFile(s.path("garbage.json")); err != nil || string(data) != "not JSON about T-1" {
		t.Errorf("garbage: %q, %v", data, err)
	}
	if target, err := os.Readlink(s.path("link.json")); err != nil || filepath.Base(target) != "target.json" {
		t.Errorf("link: %q, %v", target, err)
	}
	data, err := os.ReadFile(s.path("report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if report := object(t, string(data)); report["round"] != 7.0 || report["criteria"] != nil {
		t.Errorf("report %v", report)
	}
}

// TestCallsAreCountedAcrossProcesses checks that concurrent calls each take one scenario,
// in order.
func TestCallsAreCountedAcrossProcesses(t *testing.T) {
	exits := func(code int) fakeagent.Scenario {
		return fakeagent.Scenario{Steps: []fakeagent.Step{{Exit: new(code)}}}
	}
	s := newStage(t, exits(1), exits(2), exits(3), exits(4))
	codes := make([]int, 8)
	var calls sync.WaitGroup
	for i := range codes {
		calls.Go(func() { _, _, codes[i] = s.call(t) })
	}
	calls.Wait()
	slices.Sort(codes)
	if want := []int{1, 2, 3, 4, 4, 4, 4, 4}; !slices.Equal(codes, want) {
		t.Errorf("got %v", codes)
	}
	if n := len(fakeagent.Calls(t, s.script)); n != len(codes) {
		t.Errorf("%d calls", n)
	}
}

func TestAwaitMeetsOtherCalls(t *testing.T) {
	s := newStage(t, fakeagent.Plays(fakeagent.Step{Await: &fakeagent.Await{Calls: 3, For: fakeagent.Duration(20 * time.Second)}}))
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if _, stderr, code := s.call(t); code != 0 {
				t.Error(stderr)
			}
		})
	}
	calls.Wait()
}

func TestVersionAndHelpAreNoCalls(t *testing.T) {
	dir := t.TempDir()
	s := runner{dir, filepath.Join(dir, "script.json")}
	if err := os.WriteFile(s.script, []byte(`{"version":"2.1.197","help":"--print","calls":[{"play":"clean"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"--version": "2.1.197\n", "--help": "--print\n"} {
		if stdout, _, code := s.call(t, arg); stdout != want || code != 0 {
			t.Errorf("%s: %q, %d", arg, stdout, code)
		}
	}
	if calls := fakeagent.Calls(t, s.script); len(calls) != 0 {
		t.Errorf("calls %+v", calls)
	}
}

// TestScriptWithTheProgram checks that, without the variable, the script is beside the
// called name of the program.
func TestScriptWithTheProgram(t *testing.T) {
	s := newStage(t, fakeagent.Clean())
	if err := os.Symlink(fakeagent.Build(t), s.path("claude")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	if err := os.WriteFile(s.path("claude.json"), []byte(`{"calls":[{"steps":[{"exit":9}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.path("claude"))
	cmd.Env = []string{}
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("code %d", code)
	}
}

func TestBrokenScripts(t *testing.T) {
	for script, want := range map[string]string{
		`{`: "EOF", `{"calls":[]}`: "no calls", `{"calls":[{}],"x":1}`: "x",
		`{"calls":[{"steps":[{}]}]}`:                                      "one member, not 0",
		`{"calls":[{"steps":[{"hang":true,"exit":0}]}]}`:                  "one member, not 2",
		`{"calls":[{"steps":[{"final":{"warp":"fence"}}]}]}`:              "warp",
		`{"calls":[{"steps":[{"final":{"wrap":"paper"}}]}]}`:              "paper",
		`{"calls":[{"steps":[{"sleep":"soon"}]}]}`:                        "soon",
		`{"calls":[{"steps":[{"tool":{}}]}]}`:                             "either a name",
		`{"calls":[{"steps":[{"beat":{"every":"0s"}}]}]}`:                 "positive interval",
		`{"calls":[{"steps":[{"print":{"to":"nowhere"}}]}]}`:              "stdout or stderr",
		`{"calls":[{"steps":[{"flood":{"bytes":0}}]}]}`:                   "positive size",
		`{"calls":[{"steps":[{"fail":{"kind":"bad luck"}}]}]}`:            "bad luck",
		`{"calls":[{"steps":[{"run":{"argv":[]}}]}]}`:                     "no command",
		`{"calls":[{"cli":"clod"}]}`:                                      "clod",
		`{"calls":[{"term":"maybe"}]}`:                                    "maybe",
		`{"calls":[{"play":"nothing of this name"}]}`:                     "nothing of this name",
		`{"calls":[{"play":"clean","cli":"codex"}]}`:                      "cannot have other members",
		`{"calls":[{"steps":[{"report":{}}]}]}`:                           "no report_path",
		`{"calls":[{"steps":[{"kill":"9"}]}]}`:                            `"9"`,
		`{"calls":[{"steps":[{"await":{"file":"never","for":"20ms"}}]}]}`: "did not hold",
	} {
		s := newStage(t, fakeagent.Clean())
		if err := os.WriteFile(s.script, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := s.call(t); code != 70 || !strings.Contains(stderr, want) || strings.Contains(stderr, "panic") {
			t.Errorf("%s: code %d, %q", script, code, stderr)
		}
	}
}

func TestReadyScenariosCanBePlayed(t *testing.T) {
	for name := range fakeagent.Presets() {
		fakeagent.Write(t, t.TempDir(), fakeagent.Scenario{Play: name}) // Write checks it.
	}
}

func TestOutputAsReported(t *testing.T) {
	s := newStage(t, fakeagent.Plays(
		fakeagent.Step{Print: &fakeagent.Print{Bytes: []byte{0xef, 0xbb, 0xbf, 0xff}, Text: "banner\n"}},
		fakeagent.Step{Flood: &fakeagent.Flood{To: "stderr", Bytes: 200_001, Line: 100}},
	))
	stdout, stderr, code := s.call(t)
	if stdout != "banner\n\xef\xbb\xbf\xff" || code != 0 {
		t.Errorf("%q, %d", stdout, code)
	}
	if len(stderr) != 200_001 {
		t.Errorf("%d bytes of flood", len(stderr))
	}
	for line := range strings.Lines(stderr[:65_500]) {
		if len(line) != 100 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
}

func TestEditsTheTree(t *testing.T) {
	s := newStage(t, fakeagent.Plays(
		fakeagent.Step{Write: &fakeagent.File{Path: "new/a.txt", Text: "one\n"}},
		fakeagent.Step{Write: &fakeagent.File{Path: "hook", Executable: true}},
		fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"go", "version"}}},
		fakeagent.Step{Remove: "gone"},
	))
	if err := os.WriteFile(s.path("gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := s.call(t); code != 0 {
		t.Fatal(stderr)
	}
	if data, err := os.ReadFile(s.path("new/a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Stat(s.path("gone")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// text returns an error's text, "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
