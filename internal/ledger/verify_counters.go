package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// tallies compares the stored counters with those of all events.
func (v *verifier) tallies(ctx context.Context) error {
	if v.fold == nil || v.uncounted {
		return nil
	}
	want := make(map[string]row)
	for _, r := range v.sums.rows(nil, v.sums.caps) {
		if r.sum != 0 || !r.exact {
			want[r.measure+r.labels] = r
		}
	}
	err := eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var got row
		if err := scanRow(rows, &got.measure, &got.labels, &got.sum, &got.newest.seq, &got.newest.at,
			(*[]byte)(&got.exemplar)); err != nil {
			return err
		}
		// A name may be anything here: nothing else may look like its labels.
		key := got.measure + got.labels
		due, ok := want[key]
		if !ok || due.measure != got.measure {
			v.problem(Event{}, ProblemCounter, "nothing in the events counts %.100q under %.300s", got.measure, got.labels)
			return nil
		}
		v.tally(got, due)
		delete(want, key)
		return nil
	}, "SELECT measure, labels, sum, seq, at, note FROM tallies ORDER BY measure, labels")
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if r := want[key]; r.exact {
			v.problem(Event{}, ProblemCounter, "the sum of %s under %.300s is missing", r.measure, r.labels)
		}
	}
	return nil
}

// tally compares a stored counter with the recomputed one.
func (v *verifier) tally(got, due row) {
	switch {
	case due.exact && got.sum != due.sum, got.sum == 0, got.sum > counters.MaxSum, got.sum < -counters.MaxSum:
		v.problem(Event{}, ProblemCounter, "the sum of %s under %.300s is %d, the events give %d",
			due.measure, due.labels, got.sum, due.sum)
	case got.newest.seq != due.newest.seq || got.newest.at != due.newest.at:
		v.problem(Event{}, ProblemCounter, "the sum of %s under %.300s last changed with event %d at %.100q, by the events with %d at %q",
			due.measure, due.labels, got.newest.seq, got.newest.at, due.newest.seq, due.newest.at)
	case !sameExemplar(got.exemplar, due.exemplar):
		v.problem(Event{}, ProblemCounter, "the note of the sum of %s under %.300s is not that of the events", due.measure, due.labels)
	}
}

// sameExemplar distinguishes no exemplar from an empty one.
func sameExemplar(a, b jsontext.Value) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
