package ledger

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json/jsontext"
)

// Entries returns those of a task's entries that exist among the given keys, as
// of one moment, by one look-up each. The map is nil only beside an error.
func (l *Ledger) Entries(ctx context.Context, task string, keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value)
	err := l.read(ctx, func(tx *sql.Tx) (err error) {
		found, err = (&dbView{ctx: ctx, tx: tx, task: task}).Entries(keys)
		return err
	})
	return found, err
}

// LatestEntries returns those of a task's entries whose keys begin with prefix, the
// greatest key first, and at most limit of them. It costs what it returns,
// however many others there are: keys that end in a number of a fixed width make
// it the newest of a long list.
func (l *Ledger) LatestEntries(ctx context.Context, task, prefix string, limit int) ([]Entry, error) {
	var newest []Entry
	err := l.read(ctx, func(tx *sql.Tx) error {
		newest = nil
		// No key holds a byte as great as DEL: it ends the range of the prefix.
		rows, err := tx.QueryContext(ctx,
			"SELECT key, value FROM entries WHERE task = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT ?",
			task, prefix, prefix+"\x7f", max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var entry Entry
			if err := scanRow(rows, &entry.Key, (*[]byte)(&entry.Value)); err != nil {
				return err
			}
			newest = append(newest, entry)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return newest, nil
}
