package e2e

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// runTime is the time limit of a run of one task or of several: an agent has that of a
// round.
const runTime = 4 * roundTime

// ended is the part of a run's result that the tests read.
type ended struct {
	TaskID     string    `json:"task_id"`
	NextAction string    `json:"next_action"`
	Reason     string    `json:"reason"`
	Round      int       `json:"round"`
	Commit     string    `json:"commit"`
	Subject    string    `json:"subject"`
	Until      time.Time `json:"until"`
	Branch     struct {
		Worktree string `json:"worktree"`
	} `json:"branch"`
	Spent struct {
		Task struct {
			Tokens       int64 `json:"tokens"`
			MicroDollars int64 `json:"microdollars"`
		} `json:"task"`
		Runs int `json:"runs"`
	} `json:"spent"`
}

// newRepository is newProject for run, which has its worktrees below state.
func (r *rig) newRepository(t *testing.T, base, config, state string) *project {
	t.Helper()
	p := r.newProject(t, base, config)
	p.env = append(p.env, "XDG_STATE_HOME="+state)
	return p
}

// run runs tasks, fails unless the exit status is want, and returns their results in the
// order of their ends.
func (p *project) run(t *testing.T, want int, args ...string) []ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	cmd := p.command(ctx, append([]string{"run", "--output", "json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); !exited(err) || cmd.ProcessState.ExitCode() != want {
		t.Fatalf("run: %v, want exit status %d\n%s%s", err, want, out.String(), errs.String())
	}
	t.Logf("%s%s", out.String(), errs.String())
	var results []ended
	for line := range bytes.Lines(out.Bytes()) {
		var event struct {
			Result *ended `json:"result"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if event.Result != nil {
			results = append(results, *event.Result)
		}
	}
	return results
}

// committed fails unless the branch of a task has one commit after the first, with the
// trailers of this round, and its worktree is clean.
func (p *project) committed(t *testing.T, r ended, round int) {
	t.Helper()
	branch := "switchyard/" + r.TaskID
	if r.NextAction != "commit" || r.Round != round || r.Subject != "Rename the package" {
		t.Errorf("%s, %s in round %d: %q", r.NextAction, r.Reason, r.Round, r.Subject)
	}
	if tips := p.git(t, "rev-list", "HEAD.."+branch); tips != r.Commit+"\n" {
		t.Errorf("%s has the commits %q, and not %s", branch, tips, r.Commit)
	}
	if status := p.git(t, "-C", r.Branch.Worktree, "status", "--porcelain"); status != "" {
		t.Errorf("the worktree has\n%s", status)
	}
	trailers := strings.Split(strings.TrimSpace(p.git(t, "log", "-1", "--format=%(trailers:only,unfold)", branch)), "\n")
	wants := []string{"Switchyard-Task: " + r.TaskID, fmt.Sprintf("Switchyard-Round: %d", round), "Switchyard-Decision: ", "Switchyard-Policy: routing@"}
	if !slices.EqualFunc(trailers, wants, strings.HasPrefix) {
		t.Errorf("the commit has the trailers %q", trailers)
	}
}

// says returns the output of switchyard.
func (p *project) says(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.command(t.Context(), args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", args, err, out)
	}
	return string(out)
}

// roles records, in the order of their first requests, the roles that the environments of
// a project's agents name.
type roles struct {
	mu   sync.Mutex
	seen []string
}

// watch returns the model, which looks at the agents' environments at each request.
func (o *roles) watch(p **project, then scenario) scenario {
	return func(r request) reply {
		running(func(environ string) bool {
			vars := map[string]string{}
			for entry := range strings.SplitSeq(environ, "\x00") {
				name, value, _ := strings.Cut(entry, "=")
				vars[name] = value
			}
			if role := vars["SWITCHYARD_ROLE"]; role != "" && strings.Contains(environ, (*p).temp) && vars["SWITCHYARD_RUN"] != "" {
				o.mu.Lock()
				defer o.mu.Unlock()
				entry := fmt.Sprintf("%s of %s in round %s, report %v", role, vars["SWITCHYARD_TASK"], vars["SWITCHYARD_ROUND"], vars["SWITCHYARD_REPORT"] != "")
				if !slices.Contains(o.seen, entry) {
					o.seen = append(o.seen, entry)
				}
			}
			return false
		})
		return then(r)
	}
}

// TestRun tests that each of the real CLIs does a whole task, from its text to a commit
// with one repair in between, and how a run ends otherwise.
func TestRun(t *testing.T) {
	r := newRig(t)
	r.build(t)
	for name, lax := range laxities() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.needs(t, name)
			r.wholeTask(t, name, lax)
		})
	}
	t.Run("usage limit", r.limitedRun)
	t.Run("interrupts", r.interruptedRun)
	t.Run("several tasks", r.severalTasks)
}

// wholeTask runs a task with one of the CLIs.
func (r *rig) wholeTask(t *testing.T, name string, lax laxity) {
	var p *project
	var env roles
	state := t.TempDir()
	p = r.newRepository(t, r.model.url("run-"+name, env.watch(&p, worker(state, missingTest))), config(name), state)
	results := p.run(t, 0, "T-1", "--prompt", "Rename the package to b.", "--verify-cmd", "grep 'package b' a.go")

	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	result := results[0]
	p.committed(t, result, 2)
	if files := p.git(t, "diff", "--name-status", "HEAD", "switchyard/T-1"); files != "M\ta.go\nA\ta_test.go\n" {
		t.Errorf("the commit has\n%s", files)
	}
	// They have nine requests, with 120 tokens each.
	if tokens := result.Spent.Task.Tokens; result.Spent.Runs != 4 || (tokens == 0) != lax.hidesTokens || !lax.hidesTokens && tokens != 9*120 {
		t.Errorf("%d runs used %d tokens", result.Spent.Runs, tokens)
	}
	if paid := result.Spent.Task.MicroDollars > 0; paid != (name == "claude" || name == "opencode") {
		t.Errorf("they cost %d µ$", result.Spent.Task.MicroDollars)
	}
	want := []string{"executor of T-1 in round 1, report false", "critic of T-1 in round 1, report true",
		"build-fixer of T-1 in round 2, report false", "critic of T-1 in round 2, report true"}
	if runtime.GOOS == "linux" && !slices.Equal(env.seen, want) {
		t.Errorf("the agents were %q", env.seen)
	}
	p.transcribed(t)
}

// transcribed fails unless the messages of the agents of worker can be shown.
func (p *project) transcribed(t *testing.T) {
	t.Helper()
	var explained struct {
		Transcripts []struct {
			Run  string `json:"run"`
			Role string `json:"role"`
		} `json:"transcripts"`
	}
	if err := json.Unmarshal([]byte(p.says(t, "explain", "T-1", "--output", "json")), &explained); err != nil {
		t.Fatal(err)
	}
	last := map[string]string{"executor": "Rename the package", "critic": `"verdict"`, "build-fixer": "Test the package"}
	used := map[string]string{"executor": "a.go", "build-fixer": "a_test.go"}
	var agents []string
	for _, transcript := range explained.Transcripts {
		agents = append(agents, transcript.Role)
		said := strings.Split(p.says(t, "explain", "T-1", "--transcript", transcript.Run), "\n")
		has := func(prefix, part string) bool {
			return slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, prefix) && strings.Contains(line, part) })
		}
		if !has("", last[transcript.Role]) || !has("> ", used[transcript.Role]) {
			t.Errorf("the %s said\n%s", transcript.Role, strings.Join(said, "\n"))
		}
	}
	if !slices.Equal(agents, []string{"executor", "critic", "build-fixer", "critic"}) {
		t.Errorf("there are transcripts of %q", agents)
	}
	p.says(t, "ledger", "verify")
}
