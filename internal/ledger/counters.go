package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// CounterSource has the counters of a ledger. It is a *Ledger, or an engine for its project.
type CounterSource interface {
	// Counters returns a list of counters for each query, all as of one moment.
	Counters(ctx context.Context, queries ...CounterQuery) (Counters, error)
}

// The ledger's own measures. A fold cannot use their names.
const (
	// LabelMeasure lists the values that capped dimensions count separately, with the labels
	// "dimension" and "value" and a sum of 1.
	LabelMeasure = "label"
	// OverflowMeasure counts, with the label "dimension", the values that became
	// counters.Other because they were beyond the cap, too long, or not UTF-8: each once
	// per event.
	OverflowMeasure = "overflow"
)

// Counter is the sum of all changes of a measure with the same label values.
type Counter struct {
	// Values has one value for each label of the measure.
	Values []string `json:"values"`
	// Sum is from -counters.MaxSum to counters.MaxSum and never 0.
	Sum int64 `json:"sum"`
	// Seq and At are the number of the last event that changed it, and its time in
	// TimeFormat.
	Seq int64  `json:"seq"`
	At  string `json:"at"`
	// Exemplar is the exemplar of the last change, or nil.
	Exemplar jsontext.Value `json:"note,omitzero"`
}

// CounterQuery selects counters of one measure.
type CounterQuery struct {
	// Measure is the measure's name. An unknown measure has no counters.
	Measure string
	// Prefix has the values of the first labels, nil for all counters.
	Prefix []string
	// Limit is the maximum number of counters to return, 0 for all.
	Limit int
	// Descending reverses the order.
	Descending bool
}

// Counters are a ledger's counters as of one moment.
type Counters struct {
	// Events is the number of events.
	Events int64
	// Since and Until are the At of the first and the last event, "" without events.
	Since, Until string
	// Rows has a list for each query, ordered by the JSON text of the Values.
	Rows [][]Counter
}

// ErrUncounted is the error of Counters for a ledger that lacks counters: an older Switchyard
// wrote it, and it was opened without a fold.
var ErrUncounted = errors.New("the ledger lacks counters")

// Counters answers all queries as of one moment. It reads only the rows that it returns,
// so its cost does not depend on the number of events.
//
// # Errors
//
// ErrUncounted, ledger-invalid for a negative limit, and the errors of Open. It is
// ledger-corrupt also if a counter has a form that no ledger stores.
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
			return ErrUncounted
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
	return t, err
}

// span returns the times of the first and the last event, and the number of events.
func span(ctx context.Context, tx *sql.Tx) (since, until string, events int64, err error) {
	if _, err = queryRow(ctx, tx, []any{&since}, "SELECT at FROM events ORDER BY seq LIMIT 1"); err != nil {
		return "", "", 0, err
	}
	_, err = queryRow(ctx, tx, []any{&events, &until}, "SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1")
	return since, until, events, err
}

// rows returns the counters that q selects, by one range of the table's key.
func (q CounterQuery) rows(ctx context.Context, tx *sql.Tx) ([]Counter, error) {
	from, to := labelRange(q.Prefix)
	order := ""
	if q.Descending {
		order = " DESC"
	}
	limit := q.Limit
	if limit == 0 {
		limit = -1 // no limit in SQLite
	}
	var all []Counter
	var labels sql.RawBytes
	var c Counter
	err := eachRow(ctx, tx, []any{&labels, &c.Sum, &c.Seq, &c.At, (*[]byte)(&c.Exemplar)}, func() error {
		var ok bool
		if c.Values, ok = parseLabels(labels); !ok || !c.valid() {
			return corrupt("the counter %.100q has an invalid row %.300q", q.Measure, labels)
		}
		all = append(all, c)
		return nil
	}, "SELECT labels, sum, seq, at, note FROM tallies WHERE measure = ? AND labels BETWEEN ? AND ? ORDER BY labels"+order+" LIMIT ?",
		q.Measure, from, to, limit)
	return all, err
}

// valid reports whether a ledger would store c, apart from its values.
func (c Counter) valid() bool {
	return c.Sum != 0 && -counters.MaxSum <= c.Sum && c.Sum <= counters.MaxSum && !Event{At: c.At}.Time().IsZero() &&
		(c.Exemplar == nil || len(c.Exemplar) <= counters.MaxExemplar && c.Exemplar.IsValid())
}

// appendLabels appends the stored form of a counter's label values, which are UTF-8: a
// canonical JSON array.
func appendLabels(text []byte, values []string) []byte {
	text = append(text, '[')
	for i, value := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text, _ = jsontext.AppendQuote(text, value)
	}
	return append(text, ']')
}

// parseLabels is the reverse of appendLabels. ok is false for any other text.
func parseLabels(text []byte) (values []string, ok bool) {
	err := json.Unmarshal(text, &values)
	return values, err == nil && bytes.Equal(appendLabels(nil, values), text)
}

// labelRange returns the bounds of the texts of labels that begin with prefix.
//
// The text of a prefix without its closing bracket ends in a quote. In the labels, a comma
// or a bracket follows it, and no other label text sorts between the two.
func labelRange(prefix []string) (from, to string) {
	if len(prefix) == 0 {
		return "[", "[]"
	}
	open := strings.TrimSuffix(string(appendLabels(nil, prefix)), "]")
	return open + ",", open + "]"
}
