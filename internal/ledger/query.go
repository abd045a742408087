package ledger

import (
	"context"
	"database/sql"
)

// scanRow reads the current row. It fails only where a column holds what it cannot
// hold in a ledger.
func scanRow(rows *sql.Rows, dest ...any) error {
	if err := rows.Scan(dest...); err != nil {
		return corrupt("a row holds a wrong type: %w", err)
	}
	return nil
}

// firstRow reads the first of the rows into dest, closes them, and reports whether
// there is one.
func firstRow(rows *sql.Rows, dest ...any) (bool, error) {
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	return true, scanRow(rows, dest...)
}

// querier is a transaction, or a database where a query is one by itself.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryRow reads the first row of a query into dest and reports whether there is one.
func queryRow(ctx context.Context, q querier, dest []any, query string, args ...any) (bool, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	return firstRow(rows, dest...)
}

// queryInt reads the one number that a query gives.
func queryInt(ctx context.Context, q querier, query string) (int64, error) {
	var n int64
	_, err := queryRow(ctx, q, []any{&n}, query)
	return n, err
}
