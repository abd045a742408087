package ledger

import (
	"context"
	"database/sql"
	"iter"
	"time"
)

// Selection names some events of all tasks.
type Selection struct {
	// Kind is that of the events.
	Kind string
	// Through is the Seq of the last event that counts, 0 for none.
	Through int64
	// Since is when the first of them happened, by its writer's clock, which may
	// have been set back. The zero time stands for all.
	Since time.Time
}

// Select yields the selected events in the order of their recording. It is otherwise
// like EventsSince. It looks at every event up to Through, but reads the bodies of
// the selected ones alone.
func (l *Ledger) Select(ctx context.Context, s Selection) iter.Seq2[Event, error] {
	since := "" // Not even an event whose time was spoiled is left out.
	if !s.Since.IsZero() {
		since = s.Since.UTC().Format(TimeFormat)
	}
	if s.Since.UTC().Year() > 9999 {
		since = ":" // Its text would come before that of any year of four digits.
	}
	args := []any{s.Kind, s.Through, since}
	return pages(ctx, l, selectEvents+"WHERE kind = ? AND seq <= ? AND at >= ? AND seq > ? ORDER BY seq LIMIT ?", args, int64(0),
		func(rows *sql.Rows) (Event, any, int, error) {
			e, err := scanEvent(rows)
			return e, e.Seq, len(e.Body), err
		})
}
