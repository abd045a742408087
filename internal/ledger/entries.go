package ledger

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json/jsontext"
)

// Entries returns the task's entries with the given keys, as of one moment. Keys
// without an entry are left out.
func (l *Ledger) Entries(ctx context.Context, task string, keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value)
	err := l.read(ctx, func(tx *sql.Tx) (err error) {
		found, err = (&dbView{ctx: ctx, tx: tx, task: task}).Entries(keys)
		return err
	})
	return found, err
}

// LatestEntries returns at most limit of the task's entries whose keys begin with
// prefix, the greatest key first. Its cost depends on what it returns alone: keys that
// end in a number of fixed width make it the tail of a long list.
func (l *Ledger) LatestEntries(ctx context.Context, task, prefix string, limit int) ([]Entry, error) {
	var latest []Entry
	err := l.read(ctx, func(tx *sql.Tx) error {
		latest = nil
		// No key has a byte as great as DEL, so it ends the range of the prefix.
		return eachRow(ctx, tx, func(rows *sql.Rows) error {
			var entry Entry
			err := scanRow(rows, &entry.Key, (*[]byte)(&entry.Value))
			latest = append(latest, entry)
			return err
		}, "SELECT key, value FROM entries WHERE task = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT ?",
			task, prefix, prefix+"\x7f", max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return latest, nil
}
