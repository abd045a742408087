package ledger

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json/jsontext"
)

// stored is a task's projection in the database, as one transaction sees it. It
// is of use as long as that transaction is. Its statements are prepared when
// first needed; the end of the transaction closes them.
type stored struct {
	ctx   context.Context // of the transaction: a fold has none to give
	tx    *sql.Tx
	task  string
	state jsontext.Value

	get, put, remove *sql.Stmt
}

const (
	selectEntry = "SELECT value FROM entries WHERE task = ? AND key = ?"
	insertEntry = "INSERT INTO entries (task, key, value) VALUES (?, ?, ?)" +
		" ON CONFLICT (task, key) DO UPDATE SET value = excluded.value"
	deleteEntry = "DELETE FROM entries WHERE task = ? AND key = ?"
)

func (s *stored) State() jsontext.Value { return s.state }

func (s *stored) Entry(key string) (jsontext.Value, error) {
	if err := s.prepare(&s.get, selectEntry); err != nil {
		return nil, err
	}
	rows, err := s.get.QueryContext(s.ctx, s.task, key)
	if err != nil {
		return nil, err
	}
	var value jsontext.Value
	_, err = first(rows, (*[]byte)(&value))
	return value, err
}

// apply writes what an event makes of the task, except for its state, which
// stands beside the task's head.
func (s *stored) apply(next Projection) error {
	s.state = next.State
	for _, entry := range next.Entries {
		if err := s.change(entry); err != nil {
			return err
		}
	}
	return nil
}

func (s *stored) change(entry Entry) error {
	if entry.Value == nil {
		if err := s.prepare(&s.remove, deleteEntry); err != nil {
			return err
		}
		_, err := s.remove.ExecContext(s.ctx, s.task, entry.Key)
		return err
	}
	if err := s.prepare(&s.put, insertEntry); err != nil {
		return err
	}
	_, err := s.put.ExecContext(s.ctx, s.task, entry.Key, string(entry.Value))
	return err
}

func (s *stored) prepare(stmt **sql.Stmt, query string) (err error) {
	if *stmt == nil {
		*stmt, err = s.tx.PrepareContext(s.ctx, query)
	}
	return err
}
