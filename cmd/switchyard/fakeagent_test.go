package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/cli"
)

// agentCommands returns the commands of scripts that spawn agents. Such a script has
// two directories outside its project: one for temporary files, and one for the fake
// agent's scenarios and calls.
func agentCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"await-calls": awaitCalls,
		"await-file":  awaitFile,
		"calls":       wantCalls,
		"gone":        gone,
		"play":        play,
		"record":      recordAt,
		"unreliable":  unreliable,
	}
}

// fakeAgent is the fake agent's program, for all scripts of a test.
type fakeAgent struct{ program, stages string }

func newFakeAgent(t *testing.T) fakeAgent {
	t.Helper()
	return fakeAgent{program: fakeagent.Build(t), stages: t.TempDir()}
}

// enter creates a script's directories. The private directories of spawns must not be
// In the project, where they would be changes of its tree.
func (f fakeAgent) enter(env *testscript.Env) error {
	stage, err := os.MkdirTemp(f.stages, "")
	if err != nil {
		return err
	}
	env.Setenv("FAKEAGENT", f.program)
	env.Setenv("STAGE", stage)
	env.Setenv("TMPDIR", filepath.Join(stage, "tmp"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(stage, "state"))
	return os.Mkdir(filepath.Join(stage, "tmp"), 0o700)
}

// play replaces every agent CLI with the fake agent. Each argument is the scenario of
// one call: the name of a predefined one or a file. A file with roles has the scenarios
// of each role's rounds instead. Calls count from 1 again, and $PLAYED is their directory.
//
//	play scenario...
func play(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: play scenario...")
	}
	var script struct {
		Calls []jsontext.Value `json:"calls,omitzero"`
		Roles jsontext.Value   `json:"roles,omitzero"`
	}
	for _, name := range args {
		call := jsontext.Value(fmt.Sprintf(`{"play": %q}`, name))
		if strings.HasSuffix(name, ".json") {
			call = jsontext.Value(ts.ReadFile(name))
		}
		var parts struct {
			Roles jsontext.Value `json:"roles"`
		}
		if ts.Check(json.Unmarshal(call, &parts)); parts.Roles != nil {
			script.Roles = parts.Roles
			continue
		}
		script.Calls = append(script.Calls, call)
	}
	data, err := json.Marshal(script)
	ts.Check(err)
	dir, err := os.MkdirTemp(ts.Getenv("STAGE"), "play-")
	ts.Check(err)
	path := filepath.Join(dir, "script.json")
	ts.Check(os.WriteFile(path, data, 0o600))
	ts.Setenv(fakeagent.ScenarioVariable, path)
	ts.Setenv(access.ReadVariable, ts.Getenv("FAKEAGENT")) // A script may start it.
	ts.Setenv(access.WriteVariable, filepath.Dir(path))
	ts.Setenv("PLAYED", path+".calls")
	for _, cli := range []string{"CLAUDE", "CODEX", "GEMINI", "OPENCODE", "COPILOT"} {
		ts.Setenv("SWITCHYARD_"+cli+"_BIN", ts.Getenv("FAKEAGENT"))
	}
}

// played returns the calls since the last play.
func played(ts *testscript.TestScript) []fakeagent.Call {
	calls, err := fakeagent.ReadCalls(ts.Getenv("PLAYED"))
	ts.Check(err)
	return calls
}

// wantCalls fails unless the fake agent was called this number of times since the last
// play.
//
//	calls N
func wantCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: calls N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len(played(ts)); got != want {
		ts.Fatalf("the fake agent was called %d times, want %d", got, want)
	}
}

// awaitCalls waits until this number of calls since the last play have read their
// prompt.
//
//	await-calls N
func awaitCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-calls N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	poll(ts, func() bool {
		calls := played(ts)
		return len(calls) >= want && !slices.ContainsFunc(calls, func(c fakeagent.Call) bool { return len(c.Stdin) == 0 })
	})
}

// awaitFile waits until a file exists.
//
//	await-file file
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-file file")
	}
	poll(ts, func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// poll waits until a condition holds, for much longer than the slowest machine needs.
func poll(ts *testscript.TestScript, so func() bool) {
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if so() {
			return
		}
	}
	ts.Fatalf("it has not come")
}

// gone fails if anything is left of a spawn: a process of the fake agent, one of its
// children, or a private directory. With ! it fails if nothing is left.
//
//	[!] gone
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: [!] gone")
	}
	left := leftOver(ts)
	switch {
	case neg && len(left) == 0:
		ts.Fatalf("nothing is left")
	case !neg && len(left) > 0:
		ts.Fatalf("left over: %s", strings.Join(left, ", "))
	}
}

// leftOver lists the remains of the script's spawns.
func leftOver(ts *testscript.TestScript) (left []string) {
	for _, pid := range fakeProcesses(ts) {
		left = append(left, fmt.Sprintf("process %d", pid))
	}
	files, err := os.ReadDir(ts.Getenv("TMPDIR"))
	ts.Check(err)
	for _, f := range files {
		left = append(left, f.Name())
	}
	return left
}

// fakeProcesses returns the script's processes of the fake agent that run. On Linux it
// looks at all processes, since a confined one may know itself by another number.
func fakeProcesses(ts *testscript.TestScript) (pids []int) {
	if runtime.GOOS == "linux" {
		processes, err := filepath.Glob("/proc/[0-9]*")
		ts.Check(err)
		for _, process := range processes {
			// A process can end meanwhile. The format of stat is PID (NAME) STATE; a zombie does
			// not run. A child that has no environment has its directory as an argument.
			stat, _ := os.ReadFile(filepath.Join(process, "stat"))
			environ, _ := os.ReadFile(filepath.Join(process, "environ"))
			args, _ := os.ReadFile(filepath.Join(process, "cmdline"))
			if bytes.Contains(stat, []byte(" (fakeagent) ")) && !bytes.Contains(stat, []byte(") Z ")) &&
				bytes.Contains(append(environ, args...), []byte(ts.Getenv("STAGE"))) {
				pid, err := strconv.Atoi(filepath.Base(process))
				ts.Check(err)
				pids = append(pids, pid)
			}
		}
		return pids
	}
	folders, err := filepath.Glob(filepath.Join(ts.Getenv("STAGE"), "play-*", "script.json.calls"))
	ts.Check(err)
	for _, folder := range folders {
		calls, err := fakeagent.ReadCalls(folder)
		ts.Check(err)
		for _, c := range calls {
			for _, pid := range append(c.Children, c.PID) {
				if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// records returns the lines of the spawn log.
func records(ts *testscript.TestScript) []string {
	text := ts.ReadFile(".switchyard/spawns.jsonl")
	if !strings.HasSuffix(text, "\n") {
		ts.Fatalf("the trail ends within a line")
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// recordAt fails unless a line of the spawn log has a value, or with ! no value, at a
// JSON Pointer. Lines count from 1, or from the end if negative.
//
//	[!] record line pointer [value]
func recordAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] record line pointer [value]")
	}
	all := records(ts)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	if n < 0 {
		n += len(all) + 1
	}
	if n < 1 || n > len(all) {
		ts.Fatalf("the trail has %d lines", len(all))
	}
	path := filepath.Join(ts.Getenv("STAGE"), "record.json")
	ts.Check(os.WriteFile(path, []byte(all[n-1]), 0o600))
	jsonAt(ts, neg, append([]string{path}, args[1:]...))
}

// unreliable runs a task's round and fails unless its critic's last attempt is rejected
// with this reason and class (- for none): the task is stuck on a critic-error, explain
// and the spawn log have the reason, and no process is left. With the class auth or
// quota the command fails, and the task is unchanged.
//
//	unreliable task reason class [flags...]
func unreliable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: unreliable task reason class [flags...]")
	}
	task, reason, class := args[0], args[1], strings.TrimPrefix(args[2], "-")
	run := append([]string{"round", task, "--output", "json", "--exit-code"}, args[3:]...)
	if class == "auth" || class == "quota" {
		// The task is not at fault and does not change.
		if status := statusOf(ts, "switchyard", run...); status != cli.ExitFault {
			ts.Fatalf("exit status %d, want that of a fault", status)
		}
		jsonAt(ts, false, []string{"stderr", "/error/code", strconv.Quote("spawn-" + class)})
		jsonAt(ts, false, []string{"stderr", "/error/details/reason", strconv.Quote(reason)})
		recordAt(ts, false, []string{"-1", "/class", strconv.Quote(class)})
		ts.Check(ts.Exec("switchyard", "status", task, "--output", "json"))
		jsonAt(ts, false, []string{"stdout", "/status", `"open"`})
		gone(ts, false, nil)
		return
	}
	if status := statusOf(ts, "switchyard", run...); status != cli.ExitOf("stuck") {
		ts.Fatalf("exit status %d, want that of stuck", status)
	}
	type spawn struct {
		Run     string `json:"run"`
		Outcome string `json:"outcome"`
		Reason  string `json:"reason"`
		Class   string `json:"class"`
	}
	type decision struct {
		NextAction string `json:"next_action"`
		Stuck      bool   `json:"stuck"`
		Findings   []struct {
			Critic, Category, Severity, Remediation string
		} `json:"findings"`
		Spawns []spawn `json:"spawns"`
	}
	check := func(where string, d decision) string {
		if d.NextAction != "stuck" || !d.Stuck {
			ts.Fatalf("%s: the decision is %s", where, d.NextAction)
		}
		if len(d.Findings) != 1 || len(d.Spawns) == 0 {
			ts.Fatalf("%s: there are %d findings and %d spawns", where, len(d.Findings), len(d.Spawns))
		}
		f := d.Findings[0]
		if f.Critic != "spawner" || f.Category != "critic-error" || f.Severity != "fail" || !strings.Contains(f.Remediation, reason) {
			ts.Fatalf("%s: the finding is %+v", where, f)
		}
		last := d.Spawns[len(d.Spawns)-1]
		if last.Outcome != "critic-error" || last.Reason != reason || last.Class != class {
			ts.Fatalf("%s: the spawn is %+v", where, last)
		}
		return last.Run
	}
	var printed decision
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &printed, json.MatchCaseInsensitiveNames(true)))
	id := check("round", printed)
	ts.Check(ts.Exec("switchyard", "explain", task, "--output", "json"))
	var explained struct {
		Task     struct{ Status string } `json:"task"`
		Decision decision                `json:"decision"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &explained, json.MatchCaseInsensitiveNames(true)))
	if explained.Task.Status != "stuck" || check("explain", explained.Decision) != id {
		ts.Fatalf("the task is %s, and explain tells of another run", explained.Task.Status)
	}
	for pointer, want := range map[string]string{"/run_id": id, "/task_id": task, "/outcome": "critic-error", "/reason": reason, "/class": class} {
		if want == "" {
			recordAt(ts, true, []string{"-1", pointer})
			continue
		}
		recordAt(ts, false, []string{"-1", pointer, strconv.Quote(want)})
	}
	gone(ts, false, nil)
}
