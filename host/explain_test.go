package host_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestExplainChecksTheChain edits a ledger directly. Decision 1 is explained with 400
// events after it, more than Explain follows.
func TestExplainChecksTheChain(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	const events = 400
	for _, c := range []struct {
		name, statement string
		round           int
		code            errs.Code
	}{
		{"nothing, near", "", 2, ""},
		{"nothing, far", "", 1, ""},
		{"the newest event is gone, near", "DELETE FROM events WHERE n = 400", 2, errs.LedgerTampered},
		{"most events are gone, far", "DELETE FROM events WHERE n > 200", 1, errs.LedgerTampered},
		{"the decision's own hash, far", "UPDATE events SET hash = substr(hash, 2) || substr(hash, 1, 1) WHERE n = 1", 1, errs.LedgerTampered},
		{"an event soon after it, far", "UPDATE events SET at = at || '0' WHERE n = 100", 1, errs.LedgerTampered},
		{"its entry names another, far", "UPDATE entries SET value = (SELECT value FROM entries WHERE key = 'decision/000000000002') WHERE key = 'decision/000000000001'", 1, errs.LedgerTampered},
		{"its entry is gone, far", "DELETE FROM entries WHERE key = 'decision/000000000001'", 1, errs.LedgerTampered},
		// Only Verify reaches these events.
		{"the newest event is gone, far", "DELETE FROM events WHERE n = 400", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGround(t, events, 0)
			if c.statement != "" {
				db, err := sql.Open("sqlite", filepath.Join(g.root, project.StateDir, "ledger.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := db.ExecContext(t.Context(), c.statement); err != nil {
					t.Fatal(err)
				}
			}
			x, err := g.engine.Explain(t.Context(), "T", c.round)
			if errs.CodeOf(err) != c.code || err != nil && c.code == "" {
				t.Fatalf("got %v, want code %q", err, c.code)
			}
			if err == nil && x.Decision.Round != c.round {
				t.Errorf("round %d is explained, not %d", x.Decision.Round, c.round)
			}
			if c.statement == "" {
				return
			}
			if report, err := g.engine.Verify(t.Context()); err != nil || len(report.Problems) == 0 {
				t.Errorf("verify finds %d problems, %v", len(report.Problems), err)
			}
		})
	}
}
