package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestLoopWords holds the codes of a lost race against the phase that lost it.
// The others are provoked by scripts.
func TestLoopWords(t *testing.T) {
	for phase, want := range map[string]errs.Code{
		"preflight":       errs.RoundShifted,
		"post-researcher": errs.RoundShifted,
		"post-executor":   "loop-post-executor-round-shifted",
		"post-critics":    "loop-post-critics-round-shifted",
		"commit":          errs.RoundShifted,
		"stuck":           errs.RoundShifted,
	} {
		r := loopRound{phase: phase}
		got := r.inLoopWords(task.Shifted(1, 2).(*errs.Error).WithHint("another command's"))
		if errs.CodeOf(got) != want {
			t.Errorf("%s: got %s, want %s", phase, errs.CodeOf(got), want)
		}
		if details := got.(*errs.Error).Details; details["expected"] != 1 || details["actual"] != 2 {
			t.Errorf("%s: the details are lost: %v", phase, details)
		}
		if hintFor(want) == "" {
			t.Errorf("%s has no hint", want)
		}
	}
	if err := (&loopRound{phase: "commit"}).inLoopWords(context.Canceled); err != context.Canceled {
		t.Errorf("an error without a code became %v", err)
	}
}

// TestLoopRaces lets several commands of one kind loose on one task.
func TestLoopRaces(t *testing.T) {
	t.Setenv(cacheVariable, t.TempDir())
	dir := t.TempDir()
	const task, racers = "M001-S001-T0001", 6
	race := func(args ...string) (done int, failed []string) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range racers {
			wg.Go(func() {
				var out, err strings.Builder
				code := run(t.Context(), append([]string{"-C", dir}, args...), streams{strings.NewReader(""), &out, &err})
				mu.Lock()
				defer mu.Unlock()
				if code == exitDone {
					done++
					return
				}
				var shown errorJSON
				if json.Unmarshal([]byte(err.String()), &shown) != nil {
					t.Errorf("no error in %q", err.String())
				}
				failed = append(failed, shown.Code)
			})
		}
		wg.Wait()
		return done, failed
	}

	// The work begins once.
	done, failed := race("loop-run-round", task, "--phase", "preflight", "--query", "x")
	if done != 1 {
		t.Errorf("the work began %d times", done)
	}
	for _, code := range failed {
		if code != string(errs.LoopPreflightAlreadyStamped) && code != "round-shifted" {
			t.Errorf("a command that came too late fails with %s", code)
		}
	}

	// Researchers that end together all leave their stamps.
	if done, failed = race("loop-audit-tool-use", task, "--agent", "np-researcher", "--tool-use-log", "[]"); done != racers {
		t.Errorf("%d stamps of %d; the others fail with %v", done, racers, failed)
	}
	var out, stderr strings.Builder
	run(t.Context(), []string{"-C", dir, "loop-audit-tool-use", task, "--read"}, streams{strings.NewReader(""), &out, &stderr})
	if got := strings.Count(out.String(), `"np-researcher"`); got != racers {
		t.Errorf("%d stamps are on record, want %d: %s", got, racers, stderr.String())
	}

	// The round is decided once: who comes too late finds no stamp of the round that
	// has begun, or that the round is over.
	if done, failed = race("loop-audit-tool-use", task, "--agent", "np-critic"); done != racers {
		t.Fatalf("%d stamps of %d; the others fail with %v", done, racers, failed)
	}
	style := `[{"critic": "critic", "findings": [{"category": "style", "remediation": "x"}]}]`
	done, failed = race("loop-run-round", task, "--phase", "post-critics", "--critic-outputs", style)
	if done != 1 {
		t.Errorf("the round was decided %d times", done)
	}
	for _, code := range failed {
		if code != string(errs.LoopPostCriticsRoundShifted) && code != string(errs.LoopPostCriticsMissingCriticAudit) {
			t.Errorf("a command that came too late fails with %s", code)
		}
	}
}

// TestLongVerifyOutput: an output that is too long to be read is an error, and no
// draft.
func TestLongVerifyOutput(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "verify.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, maxVerifyOutput+1); err != nil {
		t.Fatal(err)
	}
	var out, stderr strings.Builder
	code := run(t.Context(), []string{
		"-C", dir, "loop-run-round", "M001-S001-T0001", "--phase", "post-executor", "--verify-exit-code", "0",
		"--verify-output-path", log, "--force-post-executor", "--reason", "x",
	}, streams{strings.NewReader(""), &out, &stderr})
	if code != exitFault || out.String() != "" || !strings.Contains(stderr.String(), `"code": "loop-run-round-verify-output-unreadable"`) {
		t.Errorf("exit status %d: %s%s", code, out.String(), stderr.String())
	}
}

// TestLoopTask: what passes for a task's id here is one everywhere.
func TestLoopTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[MST0-9-]{0,24}`),
			rapid.StringMatching(`M[0-9]{2,60}-S[0-9]{2,40}-T[0-9]{3,40}\n?`),
		).Draw(t, "id")
		got, err := loopTask([]string{id}, errs.LoopRunRoundInvalidTaskID)
		if err == nil && (got != id || task.CheckID(id) != nil) {
			t.Fatalf("%q is accepted as %q", id, got)
		}
		if err != nil && errs.CodeOf(err) != errs.LoopRunRoundInvalidTaskID {
			t.Fatalf("%q is refused with %v", id, err)
		}
	})
	for _, id := range []string{"M001-S001-T0001", "M1000-S0001-T12345"} {
		if _, err := loopTask([]string{id}, errs.LoopRunRoundInvalidTaskID); err != nil {
			t.Errorf("%s is refused: %v", id, err)
		}
	}
}

func TestTextFlag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := textFlag{text: "before", given: true}
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`-{0,3}[a-z]{0,3}`)).Draw(t, "text")
		if err := f.Set(text); err != nil {
			t.Fatal(err)
		}
		want := textFlag{text: text, given: true}
		if strings.HasPrefix(text, "--") {
			want = textFlag{}
		}
		if f != want {
			t.Fatalf("%q is read as %+v", text, f)
		}
	})
}

func TestAfterPhase(t *testing.T) {
	both := []string{"design", "tests"}
	for _, c := range []struct {
		phase   task.Phase
		wanted  []string
		drafter string
		want    string
	}{
		{task.Research, both, task.AgentExecutor, "spawn-architect"},
		{task.Research, []string{"tests"}, task.AgentExecutor, "spawn-test-writer"},
		{task.Research, nil, task.AgentExecutor, "spawn-executor"},
		{task.Research, nil, task.AgentFixer, "spawn-build-fixer"},
		{task.Design, both, task.AgentExecutor, "spawn-test-writer"},
		{task.Design, []string{"design"}, task.AgentExecutor, "spawn-executor"},
		{task.Tests, both, task.AgentExecutor, "spawn-executor"},
		{task.Tests, both, task.AgentFixer, "spawn-build-fixer"},
		{task.Tests, both, "", "spawn-executor"}, // A person's draft.
	} {
		if got := afterPhase(c.phase, c.wanted, c.drafter); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// FuzzParseReports: a text is JSON here exactly where it is JSON, and findings
// that are made a report stay JSON.
func FuzzParseReports(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `[]`, `{}`, `null`, `"x"`, `[1,]`, `[{}]x`, `[{"findings":[]}]`, `[{"findings":[],"findings":1}]`,
		`{"criteria":null}`, "\xef\xbb\xbf[]", "[\"\xff\"]", strings.Repeat("[", 20000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kind, items := parseReports(text)
		lax := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		if valid := jsontext.Value(text).IsValid(lax...); valid != (kind != 0) {
			t.Fatalf("%q: kind %v, valid %v", text, kind, valid)
		}
		if kind == 0 {
			return
		}
		if kind != '[' && len(items) != 1 {
			t.Fatalf("%q: %d values", text, len(items))
		}
		hasReport(items)
	})
}
