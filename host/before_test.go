package host_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to edit the ledger directly

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestEditedStateIsDetected checks that Verify detects a hand-edited state. The next
// command uses it and rewrites it, but its event records the digest of the state it was
// decided on.
func TestEditedStateIsDetected(t *testing.T) {
	root := t.TempDir()
	e := newEngine(t, root, noon)
	if _, err := e.Audit(t.Context(), "T", api.AuditRequest{Agent: task.AgentExecutor}); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Task(t.Context(), "T"); err != nil || len(got.Violations) != 1 {
		t.Fatalf("%d violations, %v; the test wants one to hide", len(got.Violations), err)
	}
	db, err := sql.Open("sqlite", filepath.Join(root, project.StateDir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE tasks SET state = json_remove(state, '$.violations')"); err != nil {
		t.Fatal(err)
	}
	d, err := e.Round(t.Context(), "T", request(clean))
	if err != nil || d.NextAction != "commit" {
		t.Fatalf("went to %s, %v; the test wants the edit to work", d.NextAction, err)
	}
	report, err := e.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		if p.Kind == ledger.ProblemFold && p.N == 2 && strings.Contains(p.Message, "a state that the events before it do not give") {
			return
		}
	}
	t.Errorf("the ledger verifies: %v", report.Problems)
}
