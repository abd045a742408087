package ledger

import (
	"context"
	"database/sql"
)

// scan reads the current row. It fails only where a column holds what it cannot
// hold in a ledger.
func scan(rows *sql.Rows, dest ...any) error {
	if err := rows.Scan(dest...); err != nil {
		return corrupt("a row holds a wrong type: %w", err)
	}
	return nil
}

// one reads the first row of a query into dest and reports whether there is one.
func one(ctx context.Context, tx *sql.Tx, dest []any, query string, args ...any) (bool, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	return true, scan(rows, dest...)
}

// number reads the one number that a query gives.
func number(ctx context.Context, tx *sql.Tx, query string) (int64, error) {
	var n int64
	_, err := one(ctx, tx, []any{&n}, query)
	return n, err
}
