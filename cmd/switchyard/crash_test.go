package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

// crash is a command that is disturbed, and the states that it may leave: the project
// is either as before or as after the command, and repeating the command finishes the
// rest.
type crash struct {
	name string
	// files are added to those of newCrashSite.
	files map[string]string
	// setUp are the command lines that lead to the state before, and command is the one
	// that is killed. Words are separated by spaces.
	setUp   []string
	command string
	// again is the code with which the command refuses to run twice, "" if it runs
	// again.
	again string
	// logged leaves the ledger of the set-up as a crash leaves it, with a log that the
	// command has to recover.
	logged bool
	// cold removes compiled plugins from the cache.
	cold bool
	// between is set if the command records two events, one after the other: a killed
	// one may leave only the first.
	between bool
	// resumes is set if the command records its steps and resumes where a killed one
	// stopped. Then only its last step counts, which is a decision.
	resumes bool
	// parts are the path prefixes of the files that it creates one by one: a killed
	// command may leave some of them.
	parts []string
	// unwritable are the codes with which it may fail if it cannot write, in addition
	// to those of the ledger.
	unwritable []string
}

// crashes returns the commands of the tests that disturb one: by killing it before
// every write and at random moments, and by giving it no space or no permission to
// Write.
func crashes() []crash {
	pinned := map[string]string{"switchyard.yaml": "plugin_paths: [todo-scan.wasm]\n"}
	stale := map[string]string{"switchyard.yaml": pinned["switchyard.yaml"], "switchyard.lock": "plugins: []\n"}
	asking := map[string]string{"ask.json": `{"critic":"critic","findings":[{"category":"question-to-user","remediation":"x"}]}`}
	// Comparing this policy with another takes hardly any time.
	small := map[string]string{"small/routing.rego": smallPolicy}
	barred := map[string]string{
		"barred/routing.rego": strings.NewReplacer(
			`"stuck": {`, `"editor": {"kind": "agent", "advances_round": true},`+"\n\t"+`"stuck": {`, `"style": "stuck"`, `"style": "editor"`, `["stuck"]`, `["editor"]`, `"stuck", "reason": "work"`, `"editor", "reason": "work"`,
		).Replace(smallPolicy) + "\nbar := \"risk\"\n",
		"nits.json": `{"critic":"critic","findings":[{"category":"style","severity":"fail","remediation":"x"},{"category":"style","severity":"nit","remediation":"y"}]}`,
	}
	headless := func(agent string) map[string]string {
		return map[string]string{"agent.sh": agent, "switchyard.yaml": "verify: \"true\"\nspawn: {adapter: exec, command: [sh, agent.sh], retries: 0}\nresearch: {agents: 1}\n"}
	}
	verifying := []string{"spawn-slot-unusable", "verify-output-failed"}
	spawning := append(verifying, "spawn-trail-failed", "spawn-folder-failed", "tree-unreadable")
	first := []string{"round T --report style.json"}
	stuck := []string{"round T --max-rounds 1 --report style.json"}
	phases := []string{
		"phase start T --query retry",
		"phase research T --force --reason known",
		"audit T --agent np-executor --search retry",
		`audit T --agent np-executor --tool-use-log ["knowledge-search"] --run 1`,
		"phase draft T --verify-cmd true",
		"audit T --agent np-critic --tool-use-log [] --run 2",
		"phase review T --report clean.json",
		"phase commit T",
	}
	return []crash{
		{name: "first event", command: "round T --report style.json"},
		{name: "first event, this round only", command: "round T --round 1 --report style.json", again: "round-shifted"},
		{name: "first event, nothing compiled", command: "round T --report style.json", cold: true},
		{name: "later event", setUp: first, command: "round T --round 2 --report style.json", again: "round-shifted"},
		{name: "later event, same round", setUp: first, command: "round T --round 2 --report plan.json"},
		{name: "later event, after a crash", setUp: []string{first[0], first[0]}, logged: true, command: "round T --round 3 --report style.json", again: "task-stuck"},
		{name: "event of another task", setUp: first, command: "round U --round 1 --report style.json", again: "round-shifted"},
		{name: "commit", setUp: first, command: "round T --report clean.json --verify-cmd true", again: "task-committed", unwritable: verifying},
		{name: "archive", setUp: []string{first[0], "round T --report clean.json"}, command: "ledger archive --older-than 1ns"},
		{name: "compact", setUp: []string{first[0], "round U --report style.json"}, command: "ledger compact"},
		{name: "stuck", command: stuck[0], again: "task-stuck"},
		{name: "resume", setUp: stuck, command: "resume T --rounds +2", again: "task-not-stuck"},
		{name: "answer", files: asking, setUp: []string{"round T --report ask.json"}, command: "answer T --text yes"},
		{name: "phase start", command: phases[0], again: "task-started"},
		{name: "phase research", setUp: phases[:1], command: phases[1]},
		{name: "audit of a search", setUp: phases[:2], command: phases[2]},
		{name: "audit of a run", setUp: phases[:3], command: phases[3]},
		{name: "phase draft", setUp: phases[:4], command: phases[4], between: true, unwritable: verifying},
		{name: "phase draft, again", setUp: phases[:5], command: phases[4], between: true, unwritable: verifying},
		{name: "phase review", setUp: phases[:6], command: phases[6]},
		{name: "phase commit", setUp: phases[:7], command: phases[7], again: "task-committed"},
		{name: "phase stuck", setUp: first, command: "phase stuck T --reason because"},
		{name: "headless round", files: headless(cleanAgent), command: "round T --round 1", again: "task-committed", resumes: true, unwritable: spawning},
		{name: "headless round with research", files: headless(curiousAgent), command: "round T", resumes: true, unwritable: spawning},
		{name: "reading", setUp: first, command: "status"},
		{name: "reading, after a crash", setUp: []string{first[0], first[0]}, logged: true, command: "explain T"},
		{name: "init", command: "init --agents", parts: []string{"switchyard.yaml", ".switchyard/.gitignore", ".switchyard/agents/"}, unwritable: []string{"file-unwritable"}},
		{name: "plugin lock", files: pinned, command: "plugin lock", unwritable: []string{"file-unwritable"}},
		{name: "plugin lock, again", files: stale, command: "plugin lock", unwritable: []string{"file-unwritable"}},
		{name: "policy adopt, the first", command: "policy adopt routing@1.0.0"},
		{name: "policy adopt", files: small, setUp: first, command: "policy adopt small"},
		{name: "round by a named policy", setUp: first, command: "round U --round 1 --report style.json --policy routing@1.0.0", again: "round-shifted"},
		{name: "round with a bar", files: barred, setUp: []string{"round T --report nits.json --policy barred"}, command: "round T --round 2 --report nits.json --policy barred", again: "round-shifted"},
		{name: "policy new", command: "policy new --adr More", again: "policy-version-exists", parts: []string{"policies/", "docs/adr/"}, unwritable: []string{"policy-tree-unwritable"}},
		{name: "policy build", command: "policy build routing@1.2.0 -o b.tar.gz", unwritable: []string{"file-unwritable"}},
		{name: "plugin new", command: "plugin new --lang c scan", again: "plugin-scaffold-exists", parts: []string{"scan/"}, unwritable: []string{"plugin-scaffold-unwritable"}},
	}
}

// smallPolicy is a policy with few input classes.
const smallPolicy = `# METADATA
# title: Small
# custom:
#   version: 0.1.0
#   adr: ADR-0001
package switchyard.routing

destinations := {
	"commit": {"kind": "terminal", "advances_round": false},
	"stuck": {"kind": "terminal", "advances_round": false},
}

route_table := {"style": "stuck"}

precedence := ["stuck"]

decision := {"next_action": "stuck", "reason": "work"} if {
	input.finding_count > 0
} else := {"next_action": "stuck", "reason": "red"} if {
	input.verify == "red"
} else := {"next_action": "commit", "reason": "no-findings"}
`

// The agents of headless rounds: a critic without findings, and one with a finding that
// needs research. Both also answer a researcher's prompt.
const (
	cleanAgent   = agentsWords + "critic passed ''\n"
	curiousAgent = agentsWords + `critic issues_found '{"category":"information-missing","severity":"nit","remediation":"x"}'` + "\n"

	agentsWords = `prompt=$(cat)
field() { printf '%s\n' "$prompt" | sed -n "s/^$1: //p" | tail -n 1; }
task=$(field task_id) round=$(field round) run=$(field run_id) report=$(field report_path)
critic() {
	about="\"critic\":\"critic\",\"task_id\":\"$task\",\"round\":$round,\"verdict\":\"$1\""
	printf '{%s,"criteria":[],"findings":[%s]}' "$about" "$2" >"$report"
	printf '{%s,"blockers_count":0,"report_path":"%s","run_id":"%s"}\n' "$about" "$report" "$run"
}
if [ -z "$report" ]; then
	echo '{"decisions":[],"risks":[],"questions":[],"sources":[],"patterns":[]}'
	exit
fi
`
)

// TestDisturbedCommands disturbs every command in every way, each in a new project. The
// commands run in parallel.
func TestDisturbedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: every command is run some dozen times, by one goroutine each")
	}
	// A killed command leaves its temporary directory in there.
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range exhaustive.Sample(crashes(), 16) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			undisturbed := newCrashSite(t, c)
			for name, disturb := range disturbances() {
				t.Run(name, func(t *testing.T) {
					s := *undisturbed
					disturb(&s, t)
				})
			}
		})
	}
}

// killAtRandomMoments kills the command at random moments of its usual duration.
func (s *crashSite) killAtRandomMoments(t *testing.T) {
	span := s.span
	kills := exhaustive.Count(2, 15)
	for died := 0; died < kills; {
		if s.killAfter(t, rand.N(span)) {
			died++
		} else {
			span = span*3/4 + 1 // The machine was busier for the undisturbed command.
		}
	}
}

// killAfter kills the command after delay, and reports whether it was still running.
func (s *crashSite) killAfter(t *testing.T, delay time.Duration) bool {
	t.Helper()
	p := s.fresh(t)
	cmd := p.command(t.Context(), strings.Fields(s.command)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	_ = cmd.Process.Kill() // It may have ended.
	err := cmd.Wait()
	_, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed || s.complains(stderr.Bytes()) {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	s.judge(t, p, "killed after "+delay.String(), isWhole(stdout.Bytes()))
	return failed
}

// isWhole reports whether a command has printed its whole result: a reader may rely on
// it then.
func isWhole(stdout []byte) bool {
	return jsontext.Value(stdout).IsValid()
}
