package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// maxProblems limits the problems of a Report.
const maxProblems = 1000

// Report is what Verify found.
type Report struct {
	// Tasks and Events count what the ledger holds.
	Tasks  int64 `json:"tasks"`
	Events int64 `json:"events"`
	// Heads are all tasks' heads by id, computed from their events, without states. A
	// copy kept elsewhere can show later that no earlier event was changed or removed.
	Heads []Head `json:"heads"`
	// Problems are the signs of tampering in the order of their discovery, at most 1,000.
	Problems []Problem `json:"problems"`
	// Omitted counts further problems.
	Omitted int64 `json:"omitted,omitzero"`
}

// Sound reports whether nothing is wrong.
func (r Report) Sound() bool { return len(r.Problems) == 0 }

// Problem is a contradiction in the ledger.
type Problem struct {
	// Task, N and Seq are zero if they do not apply.
	Task    string      `json:"task,omitzero"`
	N       int64       `json:"n,omitzero"`
	Seq     int64       `json:"seq,omitzero"`
	Kind    ProblemKind `json:"kind"`
	Message string      `json:"message"`
}

// String returns the place and the message.
func (p Problem) String() string {
	if p.Task == "" {
		return p.Message
	}
	return fmt.Sprintf("task %s, event %d: %s", p.Task, p.N, p.Message)
}

// ProblemKind names a kind of contradiction; programs may match it.
type ProblemKind string

// The kinds of problems.
const (
	// ProblemHash: an event's hash is not that of its contents.
	ProblemHash ProblemKind = "hash"
	// ProblemLink: an event does not name its predecessor's hash.
	ProblemLink ProblemKind = "link"
	// ProblemForm: an event is malformed; Append would have refused it.
	ProblemForm ProblemKind = "form"
	// ProblemTaskGap: a task lacks events.
	ProblemTaskGap ProblemKind = "task-gap"
	// ProblemLedgerGap: the ledger's numbering has a gap.
	ProblemLedgerGap ProblemKind = "ledger-gap"
	// ProblemOrder: a task's later event has a smaller Seq.
	ProblemOrder ProblemKind = "order"
	// ProblemHead: a task's head is not its last event, or one of the two is missing.
	ProblemHead ProblemKind = "head"
	// ProblemState: a task's state is not the fold of its events.
	ProblemState ProblemKind = "state"
	// ProblemEntry: a task's entry differs from the fold of its events, is missing, or
	// should not exist.
	ProblemEntry ProblemKind = "entry"
	// ProblemCounter: a counter differs from the events, is missing, or should not exist.
	ProblemCounter ProblemKind = "tally"
	// ProblemFold: the fold refuses a recorded event or breaks the rules of Projection.
	ProblemFold ProblemKind = "fold"
)

// Verify reads the whole ledger as of one moment, recomputes everything and compares.
// Tampering is a result, not an error. Other processes can append meanwhile; other
// operations of this Ledger wait. The memory it needs grows with the number of tasks and
// counters and with the entries of one task, not with the number of events.
// docs/ledger.md says what it can and cannot detect.
//
// # Errors
//
// Those of Open; a database that is damaged as a database is ledger-corrupt.
func (l *Ledger) Verify(ctx context.Context) (Report, error) {
	var v verifier
	err := l.read(ctx, func(tx *sql.Tx) error {
		v = verifier{tx: tx, replay: replay{fold: l.fold, sums: newAccumulator()}}
		return v.verify(ctx)
	})
	if err != nil {
		return Report{}, err
	}
	return v.report, nil
}

// verifier is the state of a Verify.
type verifier struct {
	tx *sql.Tx
	replay
	report    Report
	uncounted bool // the fold refused an event of any task, so that sums means nothing
}

func (v *verifier) verify(ctx context.Context) error {
	for _, part := range []func(context.Context) error{v.database, v.sequence, v.chains, v.headless, v.ownerless, v.counters} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// problem reports a problem at the place that e names.
func (v *verifier) problem(e Event, kind ProblemKind, format string, args ...any) {
	if len(v.report.Problems) == maxProblems {
		v.report.Omitted++
		return
	}
	v.report.Problems = append(v.report.Problems,
		Problem{Task: e.Task, N: e.N, Seq: e.Seq, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

// database runs SQLite's own check. The quick check would not compare indexes with
// tables, and every read here uses an index.
func (v *verifier) database(ctx context.Context) error {
	var result string
	return eachRow(ctx, v.tx, []any{&result}, func() error {
		if result != "ok" {
			return corrupt("SQLite finds %s", result)
		}
		return nil
	}, "PRAGMA integrity_check(1)")
}

// sequence checks that events are numbered from 1 without gaps.
func (v *verifier) sequence(ctx context.Context) error {
	seq, want := int64(0), int64(1)
	return eachRow(ctx, v.tx, []any{&seq}, func() error {
		if seq != want {
			v.problem(Event{Seq: seq}, ProblemLedgerGap, "the ledger continues with event %d where %d is due", seq, want)
		}
		want = seq + 1
		return nil
	}, "SELECT seq FROM events ORDER BY seq")
}

// chains checks every task's events and head.
func (v *verifier) chains(ctx context.Context) error {
	return v.run(ctx, v.tx, v.event, func() error { return v.finish(ctx) })
}

// event checks an event against the previous one. The next event is checked against what
// this one says, so that one change is reported only once.
func (v *verifier) event(e Event) {
	v.report.Events++
	if err := e.checkForm(); err != nil {
		v.problem(e, ProblemForm, "%s", err.Error())
	} else if !e.Body.IsValid() {
		v.problem(e, ProblemForm, "the body is not JSON")
	}
	if e.N != v.last.N+1 {
		v.problem(e, ProblemTaskGap, "the task continues with event %d where %d is due", e.N, v.last.N+1)
	}
	if e.Seq <= v.last.Seq {
		v.problem(e, ProblemOrder, "the event was recorded before its predecessor")
	}
	if e.Prev != v.last.Hash {
		v.problem(e, ProblemLink, "the event follows %q, but its predecessor is %q", e.Prev, v.last.Hash)
	}
	if sum := e.Sum(); e.Hash != sum {
		v.problem(e, ProblemHash, "the event's hash is %q, its contents give %q", e.Hash, sum)
	}
	if err := v.add(e); err != nil {
		v.uncounted = true
		v.problem(e, ProblemFold, "%s", err.Error())
	}
}

// finish checks the head, state and entries of the task whose events were read.
func (v *verifier) finish(ctx context.Context) error {
	last := v.last
	v.report.Tasks++
	v.report.Heads = append(v.report.Heads, Head{Task: last.Task, N: last.N, Hash: last.Hash})
	head, err := readHead(ctx, v.tx, last.Task)
	if err != nil {
		return err
	}
	switch {
	case head.Task != last.Task:
		v.problem(Event{Task: last.Task}, ProblemHead, "the task has events but no head")
	case head.N != last.N || head.Hash != last.Hash:
		v.problem(Event{Task: last.Task, N: head.N}, ProblemHead,
			"the head is event %d with %q, the last event is %d with %q", head.N, head.Hash, last.N, last.Hash)
	}
	if v.fold == nil || v.refused {
		return nil
	}
	if head.Task == last.Task && !bytes.Equal(head.State, v.task.state) {
		v.problem(Event{Task: last.Task, N: last.N}, ProblemState, "the state is not what the task's events give")
	}
	return taskTx{ctx, v.tx, last.Task}.compare(v.task.entries, func(key string, stored bool, want jsontext.Value) {
		where := Event{Task: last.Task, N: last.N}
		switch {
		case want == nil:
			v.problem(where, ProblemEntry, "nothing in the task's events gives the entry %.300q", key)
		case stored:
			v.problem(where, ProblemEntry, "the entry %q is not what the task's events give", key)
		default:
			v.problem(where, ProblemEntry, "the entry %q is missing", key)
		}
	})
}

// headless checks that every head has an event.
func (v *verifier) headless(ctx context.Context) error {
	var e Event
	return eachRow(ctx, v.tx, []any{&e.Task, &e.N}, func() error {
		v.report.Tasks++
		v.problem(e, ProblemHead, "the task has a head but no events")
		return nil
	}, "SELECT task, n FROM tasks WHERE task NOT IN (SELECT task FROM events) ORDER BY task")
}

// ownerless checks that every entry's task has an event.
func (v *verifier) ownerless(ctx context.Context) error {
	var e Event
	var count int64
	return eachRow(ctx, v.tx, []any{&e.Task, &count}, func() error {
		v.problem(e, ProblemEntry, "the task has entries but no events: %d", count)
		return nil
	}, "SELECT task, count(*) FROM entries GROUP BY task HAVING task NOT IN (SELECT task FROM events) ORDER BY task")
}

// counters compares the stored counters with those of all events.
func (v *verifier) counters(ctx context.Context) error {
	if v.fold == nil || v.uncounted {
		return nil
	}
	want := make(map[string]row)
	for _, r := range v.sums.rows(nil, v.sums.caps) {
		if r.sum != 0 || !r.exact {
			want[r.measure+r.labels] = r
		}
	}
	var got row
	columns := []any{&got.measure, &got.labels, &got.sum, &got.newest.seq, &got.newest.at, (*[]byte)(&got.exemplar)}
	err := eachRow(ctx, v.tx, columns, func() error {
		// A name may be anything here: nothing else may look like its labels.
		key := got.measure + got.labels
		due, ok := want[key]
		if !ok || due.measure != got.measure {
			v.problem(Event{}, ProblemCounter, "nothing in the events counts %.100q under %.300s", got.measure, got.labels)
			return nil
		}
		v.counter(got, due)
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

// counter compares a stored counter with the recomputed one.
func (v *verifier) counter(got, due row) {
	switch {
	case due.exact && got.sum != due.sum, got.sum == 0, got.sum > counters.MaxSum, got.sum < -counters.MaxSum:
		v.problem(Event{}, ProblemCounter, "the sum of %s under %.300s is %d, the events give %d",
			due.measure, due.labels, got.sum, due.sum)
	case got.newest.seq != due.newest.seq || got.newest.at != due.newest.at:
		v.problem(Event{}, ProblemCounter, "the sum of %s under %.300s last changed with event %d at %.100q, by the events with %d at %q",
			due.measure, due.labels, got.newest.seq, got.newest.at, due.newest.seq, due.newest.at)
	case !sameExemplar(got.exemplar, due.exemplar):
		v.problem(Event{}, ProblemCounter, "the exemplar of the sum of %s under %.300s is not that of the events", due.measure, due.labels)
	}
}

// sameExemplar distinguishes no exemplar from an empty one.
func sameExemplar(a, b jsontext.Value) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
