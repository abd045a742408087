package ledger

import (
	"context"
	"database/sql"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// dbView is a task's projection in the database, as one transaction sees it. It
// is of use as long as that transaction is.
type dbView struct {
	ctx   context.Context // of the transaction: a fold has none to give
	tx    *sql.Tx
	task  string
	state jsontext.Value
}

func (s *dbView) State() jsontext.Value { return s.state }

func (s *dbView) Entry(key string) (jsontext.Value, error) {
	found, err := s.Entries([]string{key})
	return found[key], err
}

func (s *dbView) Entries(keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value, len(keys))
	for part := range slices.Chunk(keys, maxRows) {
		if err := s.read(part, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// read adds those entries to found that exist among keys, at most maxRows.
func (s *dbView) read(keys []string, found map[string]jsontext.Value) error {
	rows, err := s.tx.QueryContext(s.ctx,
		"SELECT key, value FROM entries WHERE task = ? AND key IN ("+listOf("?", len(keys))+")", s.args(keys)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value jsontext.Value
		if err := scanRow(rows, &key, (*[]byte)(&value)); err != nil {
			return err
		}
		found[key] = value
	}
	return rows.Err()
}

// apply writes what an event makes of the task, except for its state, which
// stands beside the task's head.
func (s *dbView) apply(next Projection) error {
	s.state = next.State
	return s.change(next.Entries)
}

// change writes entries, each key once, and removes those without a value. As it is
// for sums, many values of one statement are cheaper than a statement for each: see
// addRows.
func (s *dbView) change(entries []Entry) error {
	var puts []any
	var removed []string
	for _, entry := range entries {
		if entry.Value == nil {
			removed = append(removed, entry.Key)
		} else {
			puts = append(puts, s.task, entry.Key, string(entry.Value))
		}
	}
	for part := range slices.Chunk(removed, maxRows) {
		if _, err := s.tx.ExecContext(s.ctx,
			"DELETE FROM entries WHERE task = ? AND key IN ("+listOf("?", len(part))+")", s.args(part)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(puts, 3*maxRows) {
		if _, err := s.tx.ExecContext(s.ctx,
			"INSERT INTO entries (task, key, value) VALUES "+listOf("(?, ?, ?)", len(part)/3)+
				" ON CONFLICT (task, key) DO UPDATE SET value = excluded.value", part...); err != nil {
			return err
		}
	}
	return nil
}

// args are the task and keys, as a statement's arguments.
func (s *dbView) args(keys []string) []any {
	args := []any{s.task}
	for _, key := range keys {
		args = append(args, key)
	}
	return args
}
