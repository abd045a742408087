package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/cli"
)

// TestChecksFailAlike runs every command that checks something, with a check that
// passes and one that fails, as text and as JSON. A failing check prints its whole
// result to standard output in the selected format and its error to standard error, and
// exits with 1.
func TestChecksFailAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	t.Parallel()
	p := newProgram(t)
	economy := p.write(t, "economy.json", `{"critic":"critic","findings":[{"category":"over-engineering","remediation":"x"}]}`)
	for _, args := range [][]string{{"round", "T", "--report", economy}, {"policy", "new", "--from", "routing@1.0.0", "--adr", "The planner first"}} {
		if _, stderr, err := p.run(t.Context(), args...); err != nil {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	draft := filepath.Join("policies", "routing", "1.4.0")
	rego, err := os.ReadFile(filepath.Join(p.dir, draft, "routing.rego"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, filepath.Join(draft, "routing.rego"), strings.Replace(string(rego), `"askuser", "plan-checker"`, `"plan-checker", "askuser"`, 1))
	p.write(t, filepath.Join(draft, "routing_test.rego"), "package switchyard.routing_test\n\ntest_wrong if 1 == 2\n")
	p.write(t, "text.wasm", "text")

	for _, check := range []struct {
		passes, fails string
		code          string
		spoil         func()
	}{
		{"policy verify routing@1.0.0", "policy verify " + draft, "policy-not-proven", nil},
		{"policy test routing@1.0.0", "policy test " + draft, "policy-tests-failed", nil},
		{"", "policy lint", "policy-lint-failed", nil},
		{"policy replay --policy routing@1.3.0", "policy replay --policy routing@1.0.0 --fail-on-flip executor:stuck", "policy-flips", nil},
		{"plugin test np-critic", "plugin test text.wasm", "plugin-test-failed", nil},
		{"plugin list", "plugin list", "unhealthy", func() { p.write(t, "switchyard.yaml", "plugin_paths: [text.wasm]\n") }},
		{"", "doctor", "unhealthy", nil},
		{"ledger verify", "ledger verify", "ledger-tampered", func() {
			db := openDatabase(t, filepath.Join(p.dir, ".switchyard", "ledger.db"))
			if _, err := db.ExecContext(t.Context(), "UPDATE events SET at = '2020-01-01T00:00:00Z' WHERE seq = 1"); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		}},
	} {
		for _, format := range []string{"text", "json"} {
			if check.passes == "" {
				continue
			}
			stdout, stderr, err := p.run(t.Context(), append(strings.Fields(check.passes), "--output", format)...)
			if err != nil || len(stderr) > 0 || len(stdout) == 0 || json.Valid(stdout) != (format == "json") {
				t.Errorf("%s as %s: %v\n%s%s", check.passes, format, err, stdout, stderr)
			}
		}
		if check.spoil != nil {
			check.spoil()
		}
		for _, format := range []string{"text", "json"} {
			stdout, stderr, err := p.run(t.Context(), append(strings.Fields(check.fails), "--output", format)...)
			exit, ok := err.(interface{ ExitCode() int })
			if !ok || exit.ExitCode() != cli.ExitFault || len(stdout) == 0 || json.Valid(stdout) != (format == "json") {
				t.Errorf("%s as %s: %v\n%s", check.fails, format, err, stdout)
			}
			code := codeOf(stderr)
			if format == "text" && strings.Contains(string(stderr), "["+check.code+"]\n") {
				code = check.code
			}
			if code != check.code {
				t.Errorf("%s as %s: want %s, got %s", check.fails, format, check.code, stderr)
			}
		}
	}
}
