package ledger

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestScanRow(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first := func(ctx context.Context, query string) *sql.Rows {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		return rows
	}
	var n int64

	rows := first(t.Context(), "SELECT 'x'")
	if err := scanRow(rows, &n); errs.CodeOf(err) != errs.LedgerCorrupt {
		t.Errorf("a text for a number gives %v", err)
	}
	rows.Close()

	ctx, cancel := context.WithCancel(t.Context())
	rows = first(ctx, "SELECT 1")
	defer rows.Close()
	for cancel(); rows.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	if err := scanRow(rows, &n); !errors.Is(err, context.Canceled) || errs.CodeOf(err) != "" {
		t.Errorf("an interrupted query gives %v", err)
	}
}
