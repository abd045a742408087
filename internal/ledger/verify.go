package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
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
		v = verifier{tx: tx, fold: l.fold, sums: newAccumulator()}
		return v.run(ctx)
	})
	if err != nil {
		return Report{}, err
	}
	return v.report, nil
}

// verifier is the state of a Verify.
type verifier struct {
	tx     *sql.Tx
	fold   Fold
	report Report

	last    Event    // the previous event; its Task is "" at first
	task    memState // the fold of that task's events so far
	refused bool     // the fold refused one of them, so task is meaningless

	sums      *accumulator // what all events count
	uncounted bool         // the fold refused an event of any task, so that sums means nothing
}

func (v *verifier) run(ctx context.Context) error {
	for _, part := range []func(context.Context) error{v.database, v.sequence, v.chains, v.headless, v.ownerless, v.tallies} {
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
	return eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var result string
		if err := scanRow(rows, &result); err != nil {
			return err
		}
		if result != "ok" {
			return corrupt("SQLite finds %s", result)
		}
		return nil
	}, "PRAGMA integrity_check(1)")
}

// sequence checks that events are numbered from 1 without gaps.
func (v *verifier) sequence(ctx context.Context) error {
	want := int64(1)
	return eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var seq int64
		if err := scanRow(rows, &seq); err != nil {
			return err
		}
		if seq != want {
			v.problem(Event{Seq: seq}, ProblemLedgerGap, "the ledger goes on with event %d where %d is due", seq, want)
		}
		want = seq + 1
		return nil
	}, "SELECT seq FROM events ORDER BY seq")
}

// chains checks every task's events and head.
func (v *verifier) chains(ctx context.Context) error {
	err := eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		e, err := scanEvent(rows)
		if err != nil {
			return err
		}
		if e.Task != v.last.Task {
			if err := v.finish(ctx); err != nil {
				return err
			}
			v.last, v.task, v.refused = Event{Task: e.Task, Hash: Genesis}, memState{}, false
		}
		v.event(e)
		v.last = e
		return nil
	}, selectEvents+"ORDER BY task, n")
	if err != nil {
		return err
	}
	return v.finish(ctx)
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
		v.problem(e, ProblemTaskGap, "the task goes on with event %d where %d is due", e.N, v.last.N+1)
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
	if v.fold == nil || v.refused {
		return
	}
	next, err := project(v.fold, &v.task, e)
	if err == nil {
		err = v.sums.add(&e, next.Changes)
	}
	if err != nil {
		v.refused, v.uncounted = true, true
		v.problem(e, ProblemFold, "%s", err.Error())
		return
	}
	v.task.apply(next)
}

// finish checks the head, state and entries of the task whose events were read.
func (v *verifier) finish(ctx context.Context) error {
	last := v.last
	if v.report.Events == 0 {
		return nil
	}
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
	return v.entries(ctx)
}

// entries compares the stored entries of that task with the fold.
func (v *verifier) entries(ctx context.Context) error {
	where := Event{Task: v.last.Task, N: v.last.N}
	want := v.task.entries
	err := eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var key string
		var value sql.RawBytes
		if err := scanRow(rows, &key, &value); err != nil {
			return err
		}
		due, ok := want[key]
		switch {
		case !ok:
			v.problem(where, ProblemEntry, "nothing in the task's events gives the entry %.300q", key)
		case !bytes.Equal(value, due):
			v.problem(where, ProblemEntry, "the entry %q is not what the task's events give", key)
		}
		delete(want, key)
		return nil
	}, "SELECT key, value FROM entries WHERE task = ? ORDER BY key", v.last.Task)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		v.problem(where, ProblemEntry, "the entry %q is missing", key)
	}
	return nil
}

// headless checks that every head has an event.
func (v *verifier) headless(ctx context.Context) error {
	return eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var e Event
		if err := scanRow(rows, &e.Task, &e.N); err != nil {
			return err
		}
		v.report.Tasks++
		v.problem(e, ProblemHead, "the task has a head but no events")
		return nil
	}, "SELECT task, n FROM tasks WHERE task NOT IN (SELECT task FROM events) ORDER BY task")
}

// ownerless checks that every entry's task has an event.
func (v *verifier) ownerless(ctx context.Context) error {
	return eachRow(ctx, v.tx, func(rows *sql.Rows) error {
		var e Event
		var count int64
		if err := scanRow(rows, &e.Task, &count); err != nil {
			return err
		}
		v.problem(e, ProblemEntry, "the task has entries but no events: %d", count)
		return nil
	}, "SELECT task, count(*) FROM entries GROUP BY task HAVING task NOT IN (SELECT task FROM events) ORDER BY task")
}
