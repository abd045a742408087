package host_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestTasksAreListedWholeAndInOrder lists more tasks than are decoded at a time.
func TestTasksAreListedWholeAndInOrder(t *testing.T) {
	const others = 700
	g := newGround(t, 2, others)
	tasks, err := g.engine.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(tasks))
	for i, s := range tasks {
		ids[i] = s.TaskID
		if s.Round != 2 || s.Last == nil {
			t.Errorf("%s is in round %d after %v", s.TaskID, s.Round, s.Last)
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != others+1 {
		t.Errorf("%d tasks are listed, sorted: %t", len(ids), slices.IsSorted(ids))
	}

	db, err := sql.Open("sqlite", filepath.Join(g.root, project.StateDir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, id := range []string{"T", "O1", "O350"} { // in the last batch, the first and another
		if _, err := db.ExecContext(t.Context(), `UPDATE tasks SET state = '{}' WHERE task = ?`, id); err != nil {
			t.Fatal(err)
		}
		if tasks, err := g.engine.Tasks(t.Context()); errs.CodeOf(err) != errs.LedgerTampered || tasks != nil {
			t.Errorf("%s: %d tasks, %v", id, len(tasks), err)
		}
		if _, err := db.ExecContext(t.Context(), `UPDATE tasks SET state = replace((SELECT state FROM tasks WHERE task = 'O2'), '"O2"', '"' || ?1 || '"') WHERE task = ?1`, id); err != nil {
			t.Fatal(err)
		}
	}
}
