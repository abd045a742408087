package ledger

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The measures that the ledger keeps itself. No fold counts under their names.
const (
	// LabelMeasure lists, with labels "dimension" and "value" and a sum of 1, the
	// values that capped dimensions keep apart. Each is there since the event that
	// first had it.
	LabelMeasure = "label"
	// OverflowMeasure counts, with the label "dimension", the values of a capped
	// dimension that became counters.Other: they were beyond the cap, too long, or not
	// UTF-8. It counts each once an event, however many changes are under it.
	OverflowMeasure = "overflow"
)

// Counter is the sum of what events have counted under the same values.
type Counter struct {
	// Values are the labels' values, one a label of the measure.
	Values []string `json:"values"`
	// Sum is never 0: such a row is not kept. It is at most counters.MaxSum, and at
	// least its opposite.
	Sum int64 `json:"sum"`
	// At is the time of the newest event that changed it, in TimeFormat.
	At string `json:"at"`
	// Exemplar is that of the newest change, nil where it had none.
	Exemplar jsontext.Value `json:"note,omitzero"`
}

// CounterQuery names some sums of one measure.
type CounterQuery struct {
	// Measure is the measure's name. There are no sums of an unknown one.
	Measure string
	// Prefix has the values of the first labels that are wanted, nil for all.
	Prefix []string
	// Limit is how many sums are wanted at most, 0 for all.
	Limit int
	// Descending begins with the last of them.
	Descending bool
}

// Counters is what a ledger has counted up to one moment.
type Counters struct {
	// Events is how many events there are: the Seq of the last.
	Events int64
	// Since and Until are the At of the first and of the last event, "" where there
	// is none. At Since all sums were 0.
	Since, Until string
	// Rows has a list for each query, ordered by the text of the JSON array of the
	// Values.
	Rows [][]Counter
}

// Counters answers all queries as of one moment. It reads the rows that it returns
// and no others, so that it costs the same however many events there are.
//
// # Errors
//
// ledger-older; ledger-invalid for a limit below 0; and those of Open, ledger-corrupt also
// for a sum that no ledger holds.
func (l *Ledger) Counters(ctx context.Context, queries ...CounterQuery) (Counters, error) {
	for _, q := range queries {
		if q.Limit < 0 {
			return Counters{}, invalid("%d is not a number of sums", q.Limit)
		}
	}
	t := Counters{Rows: make([][]Counter, len(queries))}
	err := l.read(ctx, func(tx *sql.Tx) error {
		at, err := userVersion(ctx, tx, l.versions)
		if err != nil {
			return err
		}
		if at < countersVersion {
			return errs.New(errs.LedgerOlder, "the ledger's schema is version %d, which keeps no sums: version %d does", at, countersVersion).
				With("found", int64(at)).With("needed", int64(countersVersion))
		}
		if t.Since, t.Until, t.Events, err = span(ctx, tx); err != nil {
			return err
		}
		for i, q := range queries {
			if t.Rows[i], err = q.rows(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Counters{}, err
	}
	return t, nil
}

// span returns the times of the first and of the last event, and its number.
func span(ctx context.Context, tx *sql.Tx) (since, until string, events int64, err error) {
	if _, err = queryRow(ctx, tx, []any{&since}, "SELECT at FROM events ORDER BY seq LIMIT 1"); err != nil {
		return "", "", 0, err
	}
	_, err = queryRow(ctx, tx, []any{&events, &until}, "SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1")
	return since, until, events, err
}

// rows returns the sums that q names, by one range of the table's key.
func (q CounterQuery) rows(ctx context.Context, tx *sql.Tx) ([]Counter, error) {
	from, to, ok := labelRange(q.Prefix)
	if !ok {
		return nil, nil
	}
	query := "SELECT labels, sum, at, note FROM tallies WHERE measure = ? AND labels BETWEEN ? AND ? ORDER BY labels LIMIT ?"
	if q.Descending {
		query = "SELECT labels, sum, at, note FROM tallies WHERE measure = ? AND labels BETWEEN ? AND ? ORDER BY labels DESC LIMIT ?"
	}
	limit := q.Limit
	if limit == 0 {
		limit = -1 // SQLite's word for all.
	}
	rows, err := tx.QueryContext(ctx, query, q.Measure, from, to, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tallies []Counter
	for rows.Next() {
		var labels sql.RawBytes
		var t Counter
		if err := scanRow(rows, &labels, &t.Sum, &t.At, (*[]byte)(&t.Exemplar)); err != nil {
			return nil, err
		}
		var sound bool
		t.Values, sound = parseLabels(labels)
		if !sound || !t.sound() {
			return nil, corrupt("a sum of %.100q under %.300q is none", q.Measure, labels)
		}
		tallies = append(tallies, t)
	}
	return tallies, rows.Err()
}

// valid reports whether a ledger may hold t, whatever its values are.
func (t Counter) sound() bool {
	return t.Sum != 0 && -counters.MaxSum <= t.Sum && t.Sum <= counters.MaxSum && !Event{At: t.At}.Time().IsZero() &&
		(t.Exemplar == nil || len(t.Exemplar) <= counters.MaxExemplar && t.Exemplar.IsValid())
}
