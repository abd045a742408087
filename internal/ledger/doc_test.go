package ledger_test

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// TestTheDocumentedCheckWorks runs the script of docs/ledger.md: the chain must be
// checkable without Switchyard.
func TestTheDocumentedCheckWorks(t *testing.T) {
	for _, tool := range []string{"sh", "sqlite3", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, ok := strings.Cut(string(page), "```sh\n")
	script, _, ok2 := strings.Cut(script, "```")
	if !ok || !ok2 {
		t.Fatal("docs/ledger.md has no script")
	}
	check := func(dir string) (string, error) {
		out, err := exec.Command("sh", "-c", script, "check-chain", filepath.Join(dir, "ledger.db"), "b").CombinedOutput()
		return string(out), err
	}

	dir := fill(t)
	head, err := open(t, dir).Head(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := check(dir); err != nil || out != "b: 5 events, head "+head.Hash+"\n" {
		t.Errorf("a sound chain gives %q, %v", out, err)
	}
	for name, statement := range map[string]string{
		"body":  `UPDATE events SET body = '[]' WHERE task = 'b' AND n = 3`,
		"last":  `DELETE FROM events WHERE task = 'b' AND n = 5`,
		"third": `DELETE FROM events WHERE task = 'b' AND n = 3`,
		"head":  `UPDATE tasks SET head = 'x' WHERE task = 'b'`,
	} {
		dir := fill(t)
		edit(t, dir, statement)
		if out, err := check(dir); err == nil {
			t.Errorf("%s: a tampered chain gives %q", name, out)
		}
	}
}

// TestTheDocumentedSchemaIsTheRealOne compares schemas except for comments and spaces.
func TestTheDocumentedSchemaIsTheRealOne(t *testing.T) {
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, documented, _ := strings.Cut(string(page), "```sql\n")
	documented, _, _ = strings.Cut(documented, "```")
	var lines []string
	for line := range strings.Lines(documented) {
		line, _, _ = strings.Cut(line, "--")
		lines = append(lines, line)
	}
	got := strings.Fields(strings.ReplaceAll(strings.Join(lines, " "), ";", ""))

	db := fill(t)
	want := strings.Fields(schemaOf(t, db))
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("documented: %s\nreal: %s", got, want)
	}
}

// TestTheDocumentedSumIsRight runs the query of docs/ledger.md that compares a counter
// with its events.
func TestTheDocumentedSumIsRight(t *testing.T) {
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## The counters")
	_, query, ok := strings.Cut(rest, "```sql\n")
	query, _, ok2 := strings.Cut(query, "```")
	if !ok || !ok2 {
		t.Fatal("docs/ledger.md has no query of the sums")
	}
	dir := state(t)
	l := openWith(t, dir, func(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
		p := ledger.Projection{State: []byte(`{}`)}
		if e.Kind == "round-decided" {
			p.Changes = []counters.Change{{Measure: counters.Rounds(), Values: []string{string(e.Body[1 : len(e.Body)-1]), "1.2.0"}, Add: 1}}
		}
		return p, nil
	})
	for n, action := range []string{"executor", "commit", "executor"} {
		for i, kind := range []string{"draft-verified", "round-decided"} {
			if _, err := l.Append(t.Context(), "a", int64(2*n+i), clock(0), kind, []byte(`"`+action+`"`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var counted, recorded int
	if err := db.QueryRowContext(t.Context(), query).Scan(&counted, &recorded); err != nil || counted != 3 || recorded != 3 {
		t.Errorf("the query gives %d, %d, %v", counted, recorded, err)
	}
}
