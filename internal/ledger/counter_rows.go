package ledger

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// writeCounters adds the counts of c to the stored counters.
func writeCounters(ctx context.Context, tx *sql.Tx, c *accumulator) error {
	if len(c.sums) == 0 {
		return nil
	}
	known, err := knownLabels(ctx, tx, slices.Sorted(maps.Keys(c.labelValues)))
	if err != nil {
		return err
	}
	admitted := make(map[string]int)
	for labels, v := range c.labelValues {
		if _, ok := admitted[v.dimension.Name]; ok || known[labels] {
			continue
		}
		var n int
		from, to := labelRange([]string{v.dimension.Name})
		if _, err := queryRow(ctx, tx, []any{&n}, "SELECT count(*) FROM tallies WHERE measure = ? AND labels BETWEEN ? AND ?",
			LabelMeasure, from, to); err != nil {
			return err
		}
		admitted[v.dimension.Name] = n
	}
	return addRows(ctx, tx, c.rows(known, admitted))
}

// knownLabels returns the stored ones of some labels of LabelMeasure, and perhaps others.
func knownLabels(ctx context.Context, tx *sql.Tx, labels []string) (map[string]bool, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	query, args := "SELECT labels FROM tallies WHERE measure = ?", []any{LabelMeasure}
	if len(labels) <= maxRows { // Otherwise it is cheaper to read all: the caps keep them few.
		query += " AND labels IN (" + placeholders("?", len(labels)) + ")"
		for _, text := range labels {
			args = append(args, text)
		}
	}
	known := make(map[string]bool)
	var text string
	return known, eachRow(ctx, tx, []any{&text}, func() error {
		known[text] = true
		return nil
	}, query, args...)
}

// addRows adds rows to the stored counters, up to their limit, and removes the counters
// that become 0. Many values in one statement are a third faster than a prepared statement
// for each row.
func addRows(ctx context.Context, tx *sql.Tx, rows []row) error {
	for part := range slices.Chunk(rows, maxRows) {
		args := make([]any, 0, 6*len(part)+2)
		for _, r := range part {
			var exemplar any // NULL unless it is set
			if r.exemplar != nil {
				exemplar = string(r.exemplar)
			}
			args = append(args, r.measure, r.labels, r.sum, r.newest.seq, r.newest.at, exemplar)
		}
		var zero []string
		var key sql.NullString
		if err := eachRow(ctx, tx, []any{&key}, func() error {
			if key.Valid {
				zero = append(zero, key.String)
			}
			return nil
		}, "INSERT INTO tallies (measure, labels, sum, seq, at, note) VALUES "+placeholders("(?, ?, ?, ?, ?, ?)", len(part))+
			" ON CONFLICT (measure, labels) DO UPDATE SET sum = max(min(sum + excluded.sum, ?), ?),"+
			" seq = excluded.seq, at = excluded.at, note = excluded.note"+
			" RETURNING CASE sum WHEN 0 THEN measure || labels END",
			append(args, counters.MaxSum, -counters.MaxSum)...); err != nil {
			return err
		}
		for _, key := range zero {
			measure := key[:strings.IndexByte(key, '[')] // Labels begin with a bracket, and no name has one.
			if _, err := tx.ExecContext(ctx, "DELETE FROM tallies WHERE measure = ? AND labels = ?",
				measure, key[len(measure):]); err != nil {
				return err
			}
		}
	}
	return nil
}
