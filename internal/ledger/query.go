package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
)

// maxRows is the number of rows that one statement reads or changes.
const maxRows = 256

// querier is a transaction, or a database for a single query.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// beginner is a database, or one of its connections.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// inTx runs f in a transaction, which it commits unless f fails.
func inTx(ctx context.Context, db beginner, readOnly bool, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// scanRow reads the current row. A column of another type means that the database is
// not sound, unless the query has failed, as it does when its context ends.
func scanRow(rows *sql.Rows, dest ...any) error {
	if err := rows.Scan(dest...); err != nil {
		return cmp.Or(rows.Err(), corrupt("a row holds a wrong type: %w", err))
	}
	return nil
}

// eachRow reads every row of a query into dest and then runs f.
func eachRow(ctx context.Context, q querier, dest []any, f func() error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scanRow(rows, dest...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryRow reads the first row of a query into dest and reports whether there is one.
func queryRow(ctx context.Context, q querier, dest []any, query string, args ...any) (bool, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	return true, scanRow(rows, dest...)
}

func queryInt(ctx context.Context, q querier, query string) (int64, error) {
	var n int64
	_, err := queryRow(ctx, q, []any{&n}, query)
	return n, err
}

// placeholders repeats item n times, separated by commas.
func placeholders(item string, n int) string {
	return strings.Repeat(item+", ", n-1) + item
}
