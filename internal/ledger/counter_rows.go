package ledger

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// writeCounters adds to the sums what c has counted of new events.
func writeCounters(ctx context.Context, tx *sql.Tx, c *accumulator) error {
	if len(c.sums) == 0 {
		return nil
	}
	known, err := keptLabels(ctx, tx, slices.Sorted(maps.Keys(c.labelValues)))
	if err != nil {
		return err
	}
	room := make(map[string]int)
	for labels, m := range c.labelValues {
		if _, ok := room[m.dimension]; ok || known[labels] {
			continue
		}
		kept, err := countLabels(ctx, tx, m.dimension)
		if err != nil {
			return err
		}
		room[m.dimension] = c.caps[m.dimension] - kept
	}
	return addRows(ctx, tx, c.rows(known, room))
}

// keptLabels returns those labels of LabelMeasure that there is a sum of, and maybe
// more.
func keptLabels(ctx context.Context, tx *sql.Tx, labels []string) (map[string]bool, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	query, args := "SELECT labels FROM tallies WHERE measure = ?", []any{LabelMeasure}
	if len(labels) <= maxRows { // Else it is less to read all: the caps keep them few.
		query += " AND labels IN (" + listOf("?", len(labels)) + ")"
		for _, text := range labels {
			args = append(args, text)
		}
	}
	kept := make(map[string]bool)
	err := eachText(ctx, tx, func(text string) { kept[text] = true }, query, args...)
	return kept, err
}

// countLabels returns how many values of a dimension are kept apart.
func countLabels(ctx context.Context, tx *sql.Tx, dimension string) (n int, err error) {
	from, to, _ := labelRange([]string{dimension})
	_, err = queryRow(ctx, tx, []any{&n}, "SELECT count(*) FROM tallies WHERE measure = ? AND labels BETWEEN ? AND ?",
		LabelMeasure, from, to)
	return n, err
}

// maxRows is how many rows one statement reads or changes.
const maxRows = 256

// addRows adds rows to the sums, up to their limit, and removes those that come to 0.
// The many values of one statement are a third cheaper than a statement for each
// row, prepared once, or than one that takes them all as JSON.
func addRows(ctx context.Context, tx *sql.Tx, rows []row) error {
	for part := range slices.Chunk(rows, maxRows) {
		args := make([]any, 0, 6*len(part)+2)
		for _, r := range part {
			args = append(args, r.measure, r.labels, r.sum, r.newest.seq, r.newest.at, r.exemplarText())
		}
		// No measure's name has a bracket, with which the labels begin.
		var zero []string
		if err := eachText(ctx, tx, func(key string) { zero = append(zero, key) },
			"INSERT INTO tallies (measure, labels, sum, seq, at, note) VALUES "+listOf("(?, ?, ?, ?, ?, ?)", len(part))+
				" ON CONFLICT (measure, labels) DO UPDATE SET sum = max(min(sum + excluded.sum, ?), ?),"+
				" seq = excluded.seq, at = excluded.at, note = excluded.note"+
				" RETURNING CASE sum WHEN 0 THEN measure || labels END",
			append(args, counters.MaxSum, -counters.MaxSum)...); err != nil {
			return err
		}
		for _, key := range zero {
			measure := key[:strings.IndexByte(key, '[')]
			if _, err := tx.ExecContext(ctx, "DELETE FROM tallies WHERE measure = ? AND labels = ?",
				measure, key[len(measure):]); err != nil {
				return err
			}
		}
	}
	return nil
}

// exemplarText is what is stored of the note: NULL for none.
func (r row) exemplarText() any {
	if r.exemplar == nil {
		return nil
	}
	return string(r.exemplar)
}

// eachText runs f for the one column of every row of a query that is not NULL.
func eachText(ctx context.Context, tx *sql.Tx, f func(string), query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := scanRow(rows, &text); err != nil {
			return err
		}
		if text.Valid {
			f(text.String)
		}
	}
	return rows.Err()
}

// listOf repeats item so often, with commas between.
func listOf(item string, times int) string {
	return strings.Repeat(item+", ", times-1) + item
}
