package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestLoopRaces runs several commands of one kind on one task at once.
func TestLoopRaces(t *testing.T) {
	t.Setenv(cli.CacheVariable, t.TempDir())
	dir := t.TempDir()
	const task, racers = "M001-S001-T0001", 6
	race := func(args ...string) (done int, failed []string) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range racers {
			wg.Go(func() {
				var out, err strings.Builder
				code := run(t.Context(), append([]string{"-C", dir}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
				mu.Lock()
				defer mu.Unlock()
				if code == cli.ExitDone {
					done++
					return
				}
				var shown errs.Error
				if json.Unmarshal([]byte(err.String()), &shown) != nil {
					t.Errorf("no error in %q", err.String())
				}
				failed = append(failed, string(shown.Code))
			})
		}
		wg.Wait()
		return done, failed
	}

	// The work starts once.
	done, failed := race("loop-run-round", task, "--phase", "preflight", "--query", "x")
	if done != 1 {
		t.Errorf("the work began %d times", done)
	}
	for _, code := range failed {
		if code != string(errs.LoopPreflightAlreadyStamped) && code != "round-shifted" {
			t.Errorf("a command that came too late fails with %s", code)
		}
	}

	// The attestations of researchers that end at the same time are all recorded.
	if done, failed = race("loop-audit-tool-use", task, "--agent", "np-researcher", "--tool-use-log", "[]"); done != racers {
		t.Errorf("%d stamps of %d; the others fail with %v", done, racers, failed)
	}
	var out, stderr strings.Builder
	run(t.Context(), []string{"-C", dir, "loop-audit-tool-use", task, "--read"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr})
	if got := strings.Count(out.String(), `"np-researcher"`); got != racers {
		t.Errorf("%d stamps are on record, want %d: %s", got, racers, stderr.String())
	}

	// The round is decided once: a later command finds no attestation of the round that
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

// TestLongVerifyOutput tests that an output over the size limit is an error, and
// records no draft.
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
	}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr})
	if code != cli.ExitFault || out.String() != "" || !strings.Contains(stderr.String(), `"code": "loop-run-round-verify-output-unreadable"`) {
		t.Errorf("exit status %d: %s%s", code, out.String(), stderr.String())
	}
}
