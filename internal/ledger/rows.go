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

// first reads the first of the rows into dest, closes them, and reports whether
// there is one.
func first(rows *sql.Rows, dest ...any) (bool, error) {
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	return true, scan(rows, dest...)
}

// querier is a transaction, or a database where a query is one by itself.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// one reads the first row of a query into dest and reports whether there is one.
func one(ctx context.Context, q querier, dest []any, query string, args ...any) (bool, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	return first(rows, dest...)
}

// number reads the one number that a query gives.
func number(ctx context.Context, q querier, query string) (int64, error) {
	var n int64
	_, err := one(ctx, q, []any{&n}, query)
	return n, err
}
