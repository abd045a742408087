package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/compactjson"
)

// rangeEvents is the number of events that a goroutine verifies at a time. A range has more
// if its last task does.
const rangeEvents = 1000

// taskRange is a range of tasks in the order of their ids.
type taskRange struct {
	from   string
	to     any    // the first task after the range, or afterLast
	report Report // of the tasks with events
	// headless is about heads without events, and ownerless about entries without events.
	headless, ownerless Report
}

// afterLast is greater than every task: SQLite sorts blobs after texts.
var afterLast = []byte{}

// splitTasks splits all tasks into ranges.
func splitTasks(ctx context.Context, tx *sql.Tx) ([]taskRange, error) {
	var ranges []taskRange
	for from := ""; ; {
		var to sql.NullString
		_, err := queryRow(ctx, tx, []any{&to}, "SELECT min(task) FROM events WHERE task >"+
			" (SELECT task FROM events WHERE task >= ? ORDER BY task LIMIT 1 OFFSET ?)", from, rangeEvents-1)
		if err != nil {
			return nil, err
		}
		if !to.Valid {
			return append(ranges, taskRange{from: from, to: afterLast}), nil
		}
		ranges = append(ranges, taskRange{from: from, to: to.String})
		from = to.String
	}
}

// tasks checks every task's events, head and entries. Each transaction has a goroutine,
// which verifies range after range.
func (v *verifier) tasks(ctx context.Context, txs []*sql.Tx) error {
	ranges, err := splitTasks(ctx, v.tx)
	if err != nil {
		return err
	}
	queue := make(chan *taskRange, len(ranges))
	for i := range ranges {
		queue <- &ranges[i]
	}
	close(queue)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := make([]taskVerifier, len(txs))
	var running sync.WaitGroup
	for i, tx := range txs {
		w := &workers[i]
		*w = taskVerifier{tx: tx, replay: replay{fold: v.fold, archive: v.archive, sums: newAccumulator()}}
		running.Go(func() {
			for r := range queue {
				if err := w.verify(ctx, r); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var headless, ownerless Report
	for _, r := range ranges {
		v.report.append(r.report)
		headless.append(r.headless)
		ownerless.append(r.ownerless)
	}
	v.report.append(headless)
	v.report.append(ownerless)
	for i := range workers {
		v.uncounted = v.uncounted || workers[i].uncounted
		v.sums.merge(workers[i].sums)
	}
	return nil
}

// taskVerifier checks tasks in one transaction.
type taskVerifier struct {
	tx *sql.Tx
	replay
	uncounted bool // see verifier
	*taskRange
	folded map[string]*foldedTask // the tasks of the range by their ids
}

// foldedTask is the result of folding the events of a task.
type foldedTask struct {
	Head
	entries  map[string]jsontext.Value
	compared bool // state and entries are valid
	withHead bool
}

// verify checks the events of a range, and then the stored heads and entries.
func (w *taskVerifier) verify(ctx context.Context, r *taskRange) error {
	w.taskRange, w.folded = r, make(map[string]*foldedTask)
	const where = " WHERE task >= ? AND task < ? "
	if err := w.run(ctx, w.tx, w.event, w.finish, where, r.from, r.to); err != nil {
		return err
	}
	if err := w.heads(ctx, "SELECT task, n, head, state FROM tasks"+where+"ORDER BY task"); err != nil {
		return err
	}
	if err := w.entries(ctx, "SELECT task, key, value FROM entries"+where+"ORDER BY task, key"); err != nil {
		return err
	}
	slices.SortStableFunc(r.report.Problems, func(a, b Problem) int { return strings.Compare(a.Task, b.Task) })
	return nil
}

// event checks an event against the previous one. It trusts the fields of that one, so that
// one change is reported only once.
func (w *taskVerifier) event(e Event) {
	w.report.Events++
	if isReference(e.Body) {
		w.uncounted, w.refused = true, true
		w.report.problem(e, ProblemArchive, "the archive lacks the event's body")
		return
	}
	parsed, refusal := w.add(e)
	if err := e.checkForm(); err != nil {
		w.report.problem(e, ProblemForm, "%s", err.Error())
	} else if !parsed && !compactjson.Valid(e.Body) {
		w.report.problem(e, ProblemForm, "the body is not JSON")
	}
	if e.N != w.last.N+1 {
		w.report.problem(e, ProblemTaskGap, "the task continues with event %d where %d is due", e.N, w.last.N+1)
	}
	if e.Seq <= w.last.Seq {
		w.report.problem(e, ProblemOrder, "the event was recorded before its predecessor")
	}
	if e.Prev != w.last.Hash {
		w.report.problem(e, ProblemLink, "the event follows %q, but its predecessor is %q", e.Prev, w.last.Hash)
	}
	if sum := e.Sum(); e.Hash != sum {
		w.report.problem(e, ProblemHash, "the event's hash is %q, its contents give %q", e.Hash, sum)
	}
	if refusal != nil {
		w.uncounted = true
		w.report.problem(e, ProblemFold, "%s", refusal.Error())
	}
}

func (w *taskVerifier) finish() error {
	head := Head{Task: w.last.Task, N: w.last.N, Hash: w.last.Hash}
	w.report.Tasks++
	w.report.Heads = append(w.report.Heads, head)
	head.State = w.task.state
	w.folded[head.Task] = &foldedTask{Head: head, entries: w.task.entries, compared: w.fold != nil && !w.refused}
	return nil
}

// heads compares the stored heads and states of the range with the folded ones.
func (w *taskVerifier) heads(ctx context.Context, query string) error {
	var head Head
	var task, state sql.RawBytes
	err := eachRow(ctx, w.tx, []any{&task, &head.N, &head.Hash, &state}, func() error {
		due := w.folded[string(task)]
		if due == nil {
			w.headless.Tasks++
			w.headless.problem(Event{Task: string(task), N: head.N}, ProblemHead, "the task has a head but no events")
			return nil
		}
		due.withHead = true
		if head.N != due.N || head.Hash != due.Hash {
			w.report.problem(Event{Task: due.Task, N: head.N}, ProblemHead,
				"the head is event %d with %q, the last event is %d with %q", head.N, head.Hash, due.N, due.Hash)
		}
		if due.compared && !bytes.Equal(state, due.State) {
			w.report.problem(Event{Task: due.Task, N: due.N}, ProblemState, "the state is not what the task's events give")
		}
		return nil
	}, query, w.from, w.to)
	if err != nil {
		return err
	}
	for _, h := range w.report.Heads {
		if !w.folded[h.Task].withHead {
			w.report.problem(Event{Task: h.Task}, ProblemHead, "the task has events but no head")
		}
	}
	return nil
}

// entries compares the stored entries of the range with the folded ones.
func (w *taskVerifier) entries(ctx context.Context, query string) error {
	var task, key, value sql.RawBytes
	err := eachRow(ctx, w.tx, []any{&task, &key, &value}, func() error {
		due := w.folded[string(task)]
		if due == nil {
			due = &foldedTask{Head: Head{Task: string(task)}}
			w.folded[due.Task] = due // One problem is enough.
			w.ownerless.problem(Event{Task: due.Task}, ProblemEntry, "the task has entries but no events")
		}
		if !due.compared {
			return nil
		}
		switch want := due.entries[string(key)]; {
		case want == nil:
			w.report.problem(Event{Task: due.Task, N: due.N}, ProblemEntry, "nothing in the task's events gives the entry %.300q", key)
		case !bytes.Equal(value, want):
			w.report.problem(Event{Task: due.Task, N: due.N}, ProblemEntry, "the entry %q is not what the task's events give", key)
		}
		delete(due.entries, string(key))
		return nil
	}, query, w.from, w.to)
	if err != nil {
		return err
	}
	for _, h := range w.report.Heads {
		due := w.folded[h.Task]
		if !due.compared {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(due.entries)) {
			w.report.problem(Event{Task: h.Task, N: h.N}, ProblemEntry, "the entry %q is missing", key)
		}
	}
	return nil
}
