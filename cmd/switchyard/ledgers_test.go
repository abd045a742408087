package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestLedgersOfEverySchema checks that this program reads, verifies and continues a ledger
// of each version of the schema, as a program of that version left it:
// testdata/ledgers/README.md says which.
func TestLedgersOfEverySchema(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many processes, one after another")
	}
	t.Parallel()
	p := newProgram(t)
	clean := p.write(t, "clean.json", `{"critic":"critic","findings":[]}`)
	ledgers, err := filepath.Glob(filepath.Join("..", "..", "testdata", "ledgers", "schema-*"))
	if err != nil || len(ledgers) == 0 {
		t.Fatalf("no ledgers: %v", err)
	}
	for _, from := range ledgers {
		t.Run(filepath.Base(from), func(t *testing.T) {
			p := *p
			p.dir = t.TempDir()
			state := filepath.Join(p.dir, ".switchyard")
			if err := os.CopyFS(state, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(state, 0o700); err != nil {
				t.Fatal(err)
			}
			run := func(result any, args ...string) {
				t.Helper()
				stdout, stderr, err := p.run(t.Context(), args...)
				if err == nil && result != nil {
					err = json.Unmarshal(stdout, result)
				}
				if err != nil {
					t.Fatalf("%v: %v: %s", args, err, stderr)
				}
			}
			var before, after struct {
				Tasks  int `json:"tasks"`
				Events int `json:"events"`
			}
			run(&before, "ledger", "verify", "--decisions")
			if before.Tasks != 5 || before.Events != 9 {
				t.Errorf("%+v are verified", before)
			}
			for _, task := range []string{"committed", "stuck", "waiting", "open"} {
				var shown struct {
					Status string `json:"status"`
				}
				if run(&shown, "status", task); shown.Status != task {
					t.Errorf("task %s is %s", task, shown.Status)
				}
				run(nil, "explain", task)
			}
			run(nil, "answer", "waiting", "--text", "the old one")
			run(nil, "resume", "stuck", "--rounds", "+1")
			for _, task := range []string{"stuck", "waiting", "open"} {
				var decided struct {
					NextAction string `json:"next_action"`
				}
				if run(&decided, "round", task, "--report", clean); decided.NextAction != "commit" {
					t.Errorf("task %s goes to %q", task, decided.NextAction)
				}
			}
			if run(&after, "ledger", "verify", "--decisions"); after.Tasks != 5 || after.Events != 14 {
				t.Errorf("%+v are verified afterwards", after)
			}
			stdout, stderr, err := p.run(t.Context(), "metrics", "print")
			for _, sample := range []string{`switchyard_commits_total{bar="all"} 4`, "switchyard_ledger_events_total 14"} {
				if err != nil || !bytes.Contains(stdout, []byte("\n"+sample+"\n")) {
					t.Errorf("the metrics are without %s: %v: %s", sample, err, stderr)
				}
			}
			db := openDatabase(t, filepath.Join(state, "ledger.db"))
			var version int
			if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil {
				t.Fatal(err)
			}
			if version != len(ledgers) {
				t.Errorf("it is migrated to schema %d, and there are ledgers of %d", version, len(ledgers))
			}
		})
	}
}
