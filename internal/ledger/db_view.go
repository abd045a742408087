package ledger

import (
	"context"
	"database/sql"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// dbView is a task's projection as one transaction sees it.
type dbView struct {
	ctx   context.Context // of the transaction; a fold has none to pass
	tx    *sql.Tx
	task  string
	state jsontext.Value
}

func (v *dbView) State() jsontext.Value { return v.state }

func (v *dbView) Entry(key string) (jsontext.Value, error) {
	found, err := v.Entries([]string{key})
	return found[key], err
}

func (v *dbView) Entries(keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value, len(keys))
	for part := range slices.Chunk(keys, maxRows) {
		err := eachRow(v.ctx, v.tx, func(rows *sql.Rows) error {
			var e Entry
			err := scanRow(rows, &e.Key, (*[]byte)(&e.Value))
			found[e.Key] = e.Value
			return err
		}, "SELECT key, value FROM entries WHERE task = ? AND key IN ("+placeholders("?", len(part))+")", v.args(part)...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// apply writes an event's projection, except for the state, which is stored with the
// task's head.
func (v *dbView) apply(next Projection) error {
	v.state = next.State
	return v.change(next.Entries)
}

// change writes entries, each key once, and removes those without a value.
func (v *dbView) change(entries []Entry) error {
	var puts []any
	var removed []string
	for _, entry := range entries {
		if entry.Value == nil {
			removed = append(removed, entry.Key)
		} else {
			puts = append(puts, v.task, entry.Key, string(entry.Value))
		}
	}
	for part := range slices.Chunk(removed, maxRows) {
		if _, err := v.tx.ExecContext(v.ctx,
			"DELETE FROM entries WHERE task = ? AND key IN ("+placeholders("?", len(part))+")", v.args(part)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(puts, 3*maxRows) {
		if _, err := v.tx.ExecContext(v.ctx,
			"INSERT INTO entries (task, key, value) VALUES "+placeholders("(?, ?, ?)", len(part)/3)+
				" ON CONFLICT (task, key) DO UPDATE SET value = excluded.value", part...); err != nil {
			return err
		}
	}
	return nil
}

// args returns the arguments of a statement about some of the task's keys.
func (v *dbView) args(keys []string) []any {
	args := []any{v.task}
	for _, key := range keys {
		args = append(args, key)
	}
	return args
}
