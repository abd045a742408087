package host_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestVerifyFindsMalformedBodies changes bodies in parts that no fold needs. Verify does
// not parse again what the fold has parsed.
func TestVerifyFindsMalformedBodies(t *testing.T) {
	sequential(t)
	for _, c := range []struct {
		name, body string
		malformed  bool
	}{
		{"a name twice", `replace(body, '"severity":"nit"', '"severity":"nit","severity":"nit"')`, true},
		{"a name twice, once with an escape", `replace(body, '"severity":"nit"', '"severity":"nit","\u0073everity":"nit"')`, true},
		{"a byte that is not UTF-8", `replace(body, '"remediation":"r"', '"remediation":"' || CAST(x'ff' AS TEXT) || '"')`, true},
		{"half of a surrogate pair", `replace(body, '"remediation":"r"', '"remediation":"\ud800"')`, true},
		{"a number that is none", `replace(body, '"line":1', '"line":01')`, true},
		{"two values", `body || '{}'`, true},
		{"no end", `substr(body, 1, length(body) - 1)`, true},
		{"white space", `replace(body, '"severity":"nit"', '"severity" : "nit"')`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			e := newEngine(t, root, noon)
			if _, err := e.Round(t.Context(), "T", request(issues)); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", filepath.Join(root, project.StateDir, "ledger.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			result, err := db.ExecContext(t.Context(), `UPDATE events SET body = `+c.body+` WHERE task = 'T' AND body <> `+c.body)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := result.RowsAffected(); err != nil || n != 1 {
				t.Fatalf("%d events changed, %v", n, err)
			}
			report, err := e.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			malformed := slices.ContainsFunc(report.Problems, func(p ledger.Problem) bool { return p.Kind == ledger.ProblemForm })
			if report.Sound() || malformed != c.malformed {
				t.Errorf("it finds %+v", report.Problems)
			}
		})
	}
}
