package nubospilot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
)

// FuzzCheckpoint checks that any checkpoint gives a task within its limits or is listed
// with a reason.
func FuzzCheckpoint(f *testing.F) {
	f.Add(checkpoint("stuck", `{"round": 2, "findings": [{"category": "style", "line": 1}], "findings_per_round": {"1": [{"findings": [{}]}]}}`))
	f.Add(checkpoint("done", `{"round": 1, "tool_use_audit": [{"agent": "a", "round": 1, "violation": "x"}], "forced_a": 1}`))
	f.Add(`{"schema_version": 1e0}`)
	dir := f.TempDir()
	path := filepath.Join(dir, "checkpoints", id+".json")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := nubospilot.Read(t.Context(), dir)
		if err != nil || len(got.Tasks) > 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		if len(got.Tasks) == 0 {
			if len(got.Left) != 1 || got.Left[0].Why == "" {
				t.Errorf("left are %v", got.Left)
			}
			return
		}
		task := got.Tasks[0]
		if task.ID != id || task.Round < 1 || task.MaxRounds < 0 || task.MaxRounds > 100 || !strings.HasPrefix(task.Digest, "sha256:") {
			t.Errorf("got %+v", task)
		}
		for _, x := range task.Findings {
			if x.Line != nil && *x.Line < 1 || x.Category == "" || x.Severity != "fail" && x.Severity != "risk" && x.Severity != "nit" {
				t.Errorf("got %+v", x)
			}
		}
		for _, v := range task.Violations {
			if v.Agent == "" || v.Kind == "" || v.Round < 1 || v.Round > task.Round {
				t.Errorf("got %+v", v)
			}
		}
	})
}
