package ledger

import (
	"context"
	"database/sql"
	"iter"
	"time"
)

// Selection selects events of all tasks.
type Selection struct {
	Kind string
	// Through is the Seq of the last event to look at.
	Through int64
	// Since excludes events before it, by their writer's clock. The zero time excludes
	// none.
	Since time.Time
}

// Select yields the selected events like EventsSince. It reads no bodies of others.
func (l *Ledger) Select(ctx context.Context, s Selection) iter.Seq2[Event, error] {
	since := "" // also less than a time that was tampered with
	if !s.Since.IsZero() {
		since = s.Since.UTC().Format(TimeFormat)
	}
	if s.Since.UTC().Year() > 9999 {
		since = ":" // Sorts behind years of four digits, which the text of Since would not.
	}
	args := []any{s.Kind, s.Through, since}
	return pages(ctx, l, selectEvents+"WHERE kind = ? AND seq <= ? AND at >= ? AND seq > ? ORDER BY seq LIMIT ?", args, int64(0),
		func(rows *sql.Rows) (Event, any, int, error) {
			e, err := scanEvent(rows)
			return e, e.Seq, len(e.Body), err
		})
}
