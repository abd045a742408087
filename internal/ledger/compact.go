package ledger

import (
	"context"
	"database/sql"
	"os"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Compaction is the result of Compact.
type Compaction struct {
	Before Size `json:"before"`
	After  Size `json:"after"`
}

// Size is the size of a ledger's files in bytes.
type Size struct {
	Database int64 `json:"database"`
	Log      int64 `json:"log"`
}

// Compact writes the log into the database, so that ledger.db alone is the whole ledger
// until the next AppendAll. If at least a tenth of the database is free, it also shrinks
// the file, which needs space for two copies of the rest. Without a ledger it has no effect.
//
// # Errors
//
// The errors of Open. It is ledger-busy also if other processes read without a pause.
func (l *Ledger) Compact(ctx context.Context) (Compaction, error) {
	db, err := l.connect(ctx)
	if err != nil || db == nil {
		return Compaction{}, err
	}
	var c Compaction
	if c.Before, err = l.size(); err != nil {
		return Compaction{}, err
	}
	if err := l.retry(ctx, "compact", func() error { return compact(ctx, db) }); err != nil {
		return Compaction{}, err
	}
	c.After, err = l.size()
	return c, err
}

func compact(ctx context.Context, db *sql.DB) error {
	free, err := queryInt(ctx, db, "PRAGMA freelist_count")
	if err != nil {
		return err
	}
	pages, err := queryInt(ctx, db, "PRAGMA page_count")
	if err != nil {
		return err
	}
	if 10*free >= pages {
		if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
			return err
		}
	}
	var busy, inLog, written int64
	_, err = queryRow(ctx, db, []any{&busy, &inLog, &written}, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && busy != 0 {
		err = errs.New(errs.LedgerBusy, "compact the ledger: other processes use its log")
	}
	return err
}

func (l *Ledger) size() (Size, error) {
	file, err := os.Lstat(l.path)
	if err != nil {
		return Size{}, unwritable(l.path, err)
	}
	return Size{Database: file.Size(), Log: l.logSize()}, nil
}
