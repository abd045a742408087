package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Entries returns the task's entries with the given keys, as of one moment. It omits keys
// without an entry.
func (l *Ledger) Entries(ctx context.Context, task string, keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value)
	err := l.read(ctx, func(tx *sql.Tx) (err error) {
		found, err = taskTx{ctx, tx, task}.entries(keys)
		return err
	})
	return found, err
}

// LatestEntries returns at most limit of the task's entries with keys that begin with
// prefix, the greatest key first. Its cost depends only on the number of returned entries:
// if keys end in a number of fixed width, it returns the tail of a list of any length.
func (l *Ledger) LatestEntries(ctx context.Context, task, prefix string, limit int) ([]Entry, error) {
	var latest []Entry
	err := l.read(ctx, func(tx *sql.Tx) error {
		latest = nil
		// No key has a byte as great as DEL, so it ends the range of the prefix.
		var entry Entry
		return eachRow(ctx, tx, []any{&entry.Key, (*[]byte)(&entry.Value)}, func() error {
			latest = append(latest, entry)
			return nil
		}, "SELECT key, value FROM entries WHERE task = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT ?",
			task, prefix, prefix+"\x7f", max(limit, 0))
	})
	return latest, err
}

// taskTx reads and writes the entries of a task in a transaction.
type taskTx struct {
	ctx  context.Context // of the transaction; a fold has no context to pass
	tx   *sql.Tx
	task string
}

func (t taskTx) entries(keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value, len(keys))
	for part := range slices.Chunk(keys, maxRows) {
		var e Entry
		err := eachRow(t.ctx, t.tx, []any{&e.Key, (*[]byte)(&e.Value)}, func() error {
			found[e.Key] = e.Value
			return nil
		}, "SELECT key, value FROM entries WHERE task = ? AND key IN ("+placeholders("?", len(part))+")", t.args(part)...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// change writes entries, and removes entries without a value. Each key occurs once.
func (t taskTx) change(entries []Entry) error {
	var puts []any
	var removed []string
	for _, entry := range entries {
		if entry.Value == nil {
			removed = append(removed, entry.Key)
		} else {
			puts = append(puts, t.task, entry.Key, string(entry.Value))
		}
	}
	for part := range slices.Chunk(removed, maxRows) {
		if _, err := t.tx.ExecContext(t.ctx,
			"DELETE FROM entries WHERE task = ? AND key IN ("+placeholders("?", len(part))+")", t.args(part)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(puts, 3*maxRows) {
		if _, err := t.tx.ExecContext(t.ctx,
			"INSERT INTO entries (task, key, value) VALUES "+placeholders("(?, ?, ?)", len(part)/3)+
				" ON CONFLICT (task, key) DO UPDATE SET value = excluded.value", part...); err != nil {
			return err
		}
	}
	return nil
}

// args returns the arguments of a statement about some of the task's keys.
func (t taskTx) args(keys []string) []any {
	args := []any{t.task}
	for _, key := range keys {
		args = append(args, key)
	}
	return args
}

// replace makes due the task's entries. It writes only entries that differ.
func (t taskTx) replace(due map[string]jsontext.Value) error {
	var changes []Entry
	var key string
	var value sql.RawBytes
	err := eachRow(t.ctx, t.tx, []any{&key, &value}, func() error {
		if want := due[key]; want == nil || !bytes.Equal(value, want) {
			changes = append(changes, Entry{Key: key, Value: want})
		}
		delete(due, key)
		return nil
	}, "SELECT key, value FROM entries WHERE task = ?", t.task)
	if err != nil {
		return err
	}
	for key, want := range due {
		changes = append(changes, Entry{Key: key, Value: want})
	}
	return t.change(changes)
}
