package ledger

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

const maxProblems = 1000

// Report is the result of Verify.
type Report struct {
	Tasks  int64 `json:"tasks"`
	Events int64 `json:"events"`
	// Heads are all tasks' heads by id, computed from their events, without states. A
	// copy in another place can show later that no earlier event was changed or removed.
	Heads []Head `json:"heads"`
	// Problems are the signs of tampering in the order of their discovery, at most
	// maxProblems.
	Problems []Problem `json:"problems"`
	// Omitted counts further problems.
	Omitted int64 `json:"omitted,omitzero"`
}

// Sound reports whether there are no problems.
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
	// ProblemHash: an event's hash does not match its contents.
	ProblemHash ProblemKind = "hash"
	// ProblemLink: an event does not name its predecessor's hash.
	ProblemLink ProblemKind = "link"
	// ProblemForm: an event is malformed; AppendAll would have refused it.
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
	// ProblemArchive: the archive is missing or damaged where it has an event's body.
	ProblemArchive ProblemKind = "archive"
	// ProblemFold: the fold refuses a recorded event or breaks the rules of Projection.
	ProblemFold ProblemKind = "fold"
)

// Verify reads the whole ledger as of one moment, recomputes everything on all processors,
// and compares. Tampering is a result, not an error. Other processes can append meanwhile.
// The fold may run in several goroutines at once, for different tasks. The memory it needs
// grows with the number of tasks and counters and with the entries of a thousand events, or
// of one longer task, not with the number of events. docs/ledger.md lists the changes that
// it can and cannot detect.
//
// # Errors
//
// The errors of Open; a damaged database file is ledger-corrupt.
func (l *Ledger) Verify(ctx context.Context) (Report, error) {
	if db, err := l.connect(ctx); err != nil || db == nil {
		return Report{}, err
	}
	db, err := sql.Open("sqlite", connection(l.path, true))
	if err != nil {
		return Report{}, translate(ctx, "open", err)
	}
	defer db.Close()
	workers := runtime.GOMAXPROCS(0)
	var v verifier
	err = l.retry(ctx, "read", func() error {
		txs, err := snapshots(ctx, db, workers+2)
		if err != nil {
			return err
		}
		defer rollback(txs)
		if _, err := l.connect(ctx); err != nil { // The path may lead to another file by now.
			return err
		}
		v = verifier{fold: l.fold, archive: l.archive(), tx: txs[0], sums: newAccumulator()}
		return v.verify(ctx, txs[1], txs[2:])
	})
	if err != nil {
		return Report{}, err
	}
	return v.report, nil
}

// snapshots begins read transactions that all see the same events. It starts again if
// another process records events in between.
func snapshots(ctx context.Context, db *sql.DB, count int) ([]*sql.Tx, error) {
	db.SetMaxIdleConns(count)
	for {
		var txs []*sql.Tx
		var first, last int64
		for len(txs) < count && first == last {
			tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
			if err == nil {
				txs = append(txs, tx)
				last, err = queryInt(ctx, tx, selectLast)
			}
			if err != nil {
				rollback(txs)
				return nil, err
			}
			if len(txs) == 1 {
				first = last
			}
		}
		if first == last {
			return txs, nil
		}
		rollback(txs)
	}
}

func rollback(txs []*sql.Tx) {
	for _, tx := range txs {
		_ = tx.Rollback() // It has only read.
	}
}

type verifier struct {
	fold      Fold
	archive   archive
	tx        *sql.Tx
	report    Report
	sums      *accumulator // the counters of all events
	uncounted bool         // the fold refused an event of any task, so sums is not valid
}

// verify uses the transaction of v for the sequence and the counters, database for SQLite's
// own check, and tasks for the tasks.
func (v *verifier) verify(ctx context.Context, database *sql.Tx, tasks []*sql.Tx) error {
	parts, cancel := context.WithCancel(ctx)
	defer cancel()
	unsound := make(chan error, 1)
	go func() {
		err := checkDatabase(ctx, database)
		if err != nil {
			cancel()
		}
		unsound <- err
	}()
	err := v.sequence(parts)
	if err == nil {
		err = v.tasks(parts, tasks)
	}
	if err == nil {
		err = v.counters(parts)
	}
	return cmp.Or(<-unsound, err) // A damaged database may be the cause of err.
}

func (r *Report) problem(e Event, kind ProblemKind, format string, args ...any) {
	r.add(Problem{Task: e.Task, N: e.N, Seq: e.Seq, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

func (r *Report) add(p Problem) {
	if len(r.Problems) == maxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, p)
}

// append adds the report of the next tasks.
func (r *Report) append(next Report) {
	r.Tasks += next.Tasks
	r.Events += next.Events
	r.Heads = append(r.Heads, next.Heads...)
	for _, p := range next.Problems {
		r.add(p)
	}
	r.Omitted += next.Omitted
}

// checkDatabase runs SQLite's own check. The quick check would not compare indexes with
// tables, and every read here uses an index.
func checkDatabase(ctx context.Context, tx *sql.Tx) error {
	var result string
	return eachRow(ctx, tx, []any{&result}, func() error {
		if result != "ok" {
			return corrupt("SQLite finds %s", result)
		}
		return nil
	}, "PRAGMA integrity_check(1)")
}

// sequence checks that events are numbered from 1 without gaps.
func (v *verifier) sequence(ctx context.Context) error {
	var count, first, last int64
	if _, err := queryRow(ctx, v.tx, []any{&count, &first, &last}, "SELECT count(*), coalesce(min(seq), 1), coalesce(max(seq), 0) FROM events"); err != nil {
		return err
	}
	if first == 1 && last == count { // No two events have the same number.
		return nil
	}
	seq, want := int64(0), int64(1)
	return eachRow(ctx, v.tx, []any{&seq}, func() error {
		if seq != want {
			v.report.problem(Event{Seq: seq}, ProblemLedgerGap, "the ledger continues with event %d where %d is due", seq, want)
		}
		want = seq + 1
		return nil
	}, "SELECT seq FROM events ORDER BY seq")
}

// counters compares the stored counters with the recomputed ones.
func (v *verifier) counters(ctx context.Context) error {
	if v.fold == nil || v.uncounted {
		return nil
	}
	want := make(map[string]row)
	for _, r := range v.sums.rows(nil, nil) {
		if r.sum != 0 || !r.exact {
			want[r.measure+r.labels] = r
		}
	}
	var got row
	columns := []any{&got.measure, &got.labels, &got.sum, &got.newest.seq, &got.newest.at, (*[]byte)(&got.exemplar)}
	err := eachRow(ctx, v.tx, columns, func() error {
		// A stored name may be any text, so a wrong name and labels could give the same key.
		key := got.measure + got.labels
		due, ok := want[key]
		if !ok || due.measure != got.measure {
			v.report.problem(Event{}, ProblemCounter, "nothing in the events counts %.100q under %.300s", got.measure, got.labels)
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
			v.report.problem(Event{}, ProblemCounter, "the sum of %s under %.300s is missing", r.measure, r.labels)
		}
	}
	return nil
}

// counter compares a stored counter with the recomputed one.
func (v *verifier) counter(got, due row) {
	switch {
	case due.exact && got.sum != due.sum, got.sum == 0, got.sum > counters.MaxSum, got.sum < -counters.MaxSum:
		v.report.problem(Event{}, ProblemCounter, "the sum of %s under %.300s is %d, the events give %d",
			due.measure, due.labels, got.sum, due.sum)
	case got.newest.seq != due.newest.seq || got.newest.at != due.newest.at:
		v.report.problem(Event{}, ProblemCounter, "the sum of %s under %.300s last changed with event %d at %.100q, by the events with %d at %q",
			due.measure, due.labels, got.newest.seq, got.newest.at, due.newest.seq, due.newest.at)
	case !sameExemplar(got.exemplar, due.exemplar):
		v.report.problem(Event{}, ProblemCounter, "the exemplar of the sum of %s under %.300s is not that of the events", due.measure, due.labels)
	}
}

// sameExemplar distinguishes no exemplar from an empty one.
func sameExemplar(a, b jsontext.Value) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
