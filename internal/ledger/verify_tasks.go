package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// rangeEvents is the number of events that a goroutine verifies at a time, or more if the
// last task of the range has more.
const rangeEvents = 1000

// taskRange is a range of tasks in the order of their ids.
type taskRange struct {
	from   string
	to     any           // the first task after the range, or afterLast
	done   chan struct{} // closed when the reports are complete
	report Report        // of the tasks with events
	// headless is about the heads without events, and ownerless about the entries.
	headless, ownerless Report
}

// afterLast is greater than every task: SQLite sorts blobs after texts.
var afterLast = []byte{}

// rangeSplitter splits all tasks into ranges.
type rangeSplitter struct {
	mu     sync.Mutex
	next   any // the first task of the next range, or afterLast
	claims chan *taskRange
}

// claim returns the next range, or nil.
func (s *rangeSplitter) claim(ctx context.Context, tx *sql.Tx) (*taskRange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, more := s.next.(string)
	if !more {
		return nil, nil
	}
	var to sql.NullString
	_, err := queryRow(ctx, tx, []any{&to}, "SELECT min(task) FROM events WHERE task >"+
		" (SELECT task FROM events WHERE task >= ? ORDER BY task LIMIT 1 OFFSET ?)", from, rangeEvents-1)
	if err != nil {
		return nil, err
	}
	s.next = afterLast
	if to.Valid {
		s.next = to.String
	}
	r := &taskRange{from: from, to: s.next, done: make(chan struct{})}
	s.claims <- r
	return r, nil
}

// tasks checks every task's events, head and entries. Each transaction has a goroutine,
// which verifies range after range.
func (v *verifier) tasks(ctx context.Context, txs []*sql.Tx) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Ranges wait here for earlier ones, whose reports come first.
	ranges := rangeSplitter{next: "", claims: make(chan *taskRange, 2*len(txs))}
	workers := make([]taskVerifier, len(txs))
	var running sync.WaitGroup
	for i, tx := range txs {
		w := &workers[i]
		*w = taskVerifier{tx: tx, replay: replay{fold: v.fold, archive: v.archive, sums: newAccumulator()}}
		running.Go(func() {
			if err := w.work(ctx, &ranges); err != nil {
				cancel(err)
			}
		})
	}
	go func() {
		running.Wait()
		close(ranges.claims)
	}()
	var headless, ownerless Report
	for r := range ranges.claims {
		<-r.done
		v.report.append(r.report)
		headless.append(r.headless)
		ownerless.append(r.ownerless)
	}
	v.report.append(headless)
	v.report.append(ownerless)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
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

	// The rows of the range, read along with its events.
	heads   cursor
	head    headRow
	entries cursor
	entry   entryRow
}

type headRow struct {
	task  sql.RawBytes
	n     int64
	hash  string
	state sql.RawBytes
}

type entryRow struct{ task, key, value sql.RawBytes }

func (w *taskVerifier) work(ctx context.Context, ranges *rangeSplitter) error {
	for {
		r, err := ranges.claim(ctx, w.tx)
		if err != nil || r == nil {
			return err
		}
		err = w.verify(ctx, r)
		close(r.done)
		if err != nil {
			return err
		}
	}
}

func (w *taskVerifier) verify(ctx context.Context, r *taskRange) error {
	w.taskRange = r
	const where = " WHERE task >= ? AND task < ? "
	err := w.heads.open(ctx, w.tx, []any{&w.head.task, &w.head.n, &w.head.hash, &w.head.state},
		"SELECT task, n, head, state FROM tasks"+where+"ORDER BY task", r.from, r.to)
	if err != nil {
		return err
	}
	defer w.heads.close()
	err = w.entries.open(ctx, w.tx, []any{&w.entry.task, &w.entry.key, &w.entry.value},
		"SELECT task, key, value FROM entries"+where+"ORDER BY task, key", r.from, r.to)
	if err != nil {
		return err
	}
	defer w.entries.close()
	if err := w.run(ctx, w.tx, w.event, w.finish, where, r.from, r.to); err != nil {
		return err
	}
	if err := w.skipHeads(func(string) bool { return true }); err != nil {
		return err
	}
	return w.skipEntries(func(string) bool { return true })
}

// event checks an event against the previous one. The next event is checked against what
// this one says, so that one change is reported only once.
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
	} else if !parsed && !e.Body.IsValid() {
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

// finish checks the head, state and entries of the task whose events were read.
func (w *taskVerifier) finish() error {
	last := w.last
	w.report.Tasks++
	w.report.Heads = append(w.report.Heads, Head{Task: last.Task, N: last.N, Hash: last.Hash})
	before := func(task string) bool { return task < last.Task }
	if err := w.skipHeads(before); err != nil {
		return err
	}
	if err := w.skipEntries(before); err != nil {
		return err
	}
	head, found := w.head, w.heads.more && string(w.head.task) == last.Task
	switch {
	case !found:
		w.report.problem(Event{Task: last.Task}, ProblemHead, "the task has events but no head")
	case head.n != last.N || head.hash != last.Hash:
		w.report.problem(Event{Task: last.Task, N: head.n}, ProblemHead,
			"the head is event %d with %q, the last event is %d with %q", head.n, head.hash, last.N, last.Hash)
	}
	compared := w.fold != nil && !w.refused
	if compared && found && !bytes.Equal(head.state, w.task.state) {
		w.report.problem(Event{Task: last.Task, N: last.N}, ProblemState, "the state is not what the task's events give")
	}
	if found {
		if err := w.heads.next(); err != nil {
			return err
		}
	}
	if !compared {
		return w.storedEntries(func(string, []byte) {})
	}
	return compareEntries(w.task.entries, w.storedEntries, func(key string, stored bool, want jsontext.Value) {
		where := Event{Task: last.Task, N: last.N}
		switch {
		case want == nil:
			w.report.problem(where, ProblemEntry, "nothing in the task's events gives the entry %.300q", key)
		case stored:
			w.report.problem(where, ProblemEntry, "the entry %q is not what the task's events give", key)
		default:
			w.report.problem(where, ProblemEntry, "the entry %q is missing", key)
		}
	})
}

// storedEntries calls each for every entry of the task.
func (w *taskVerifier) storedEntries(each func(key string, value []byte)) error {
	for w.entries.more && string(w.entry.task) == w.last.Task {
		each(string(w.entry.key), w.entry.value)
		if err := w.entries.next(); err != nil {
			return err
		}
	}
	return nil
}

// skipHeads reports the next heads, of tasks without events.
func (w *taskVerifier) skipHeads(skipped func(task string) bool) error {
	for w.heads.more && skipped(string(w.head.task)) {
		w.headless.Tasks++
		w.headless.problem(Event{Task: string(w.head.task), N: w.head.n}, ProblemHead, "the task has a head but no events")
		if err := w.heads.next(); err != nil {
			return err
		}
	}
	return nil
}

// skipEntries reports the next entries, of tasks without events.
func (w *taskVerifier) skipEntries(skipped func(task string) bool) error {
	for w.entries.more && skipped(string(w.entry.task)) {
		task := string(w.entry.task)
		for count := 0; ; count++ {
			if !w.entries.more || string(w.entry.task) != task {
				w.ownerless.problem(Event{Task: task}, ProblemEntry, "the task has entries but no events: %d", count)
				break
			}
			if err := w.entries.next(); err != nil {
				return err
			}
		}
	}
	return nil
}
