package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxLine is the longest line of an export in bytes: a body and the other fields.
const maxLine = MaxBody + 4<<10

// ReadExport yields the events of an export: lines of JSON, one per event, in the order
// of recording. Like Verify it checks that the events are numbered without a gap and that
// every chain is unbroken from Genesis. It cannot detect that events are missing at the
// end. It ends after the first error, which it yields with a zero Event. It needs some 300
// bytes of memory for each task.
//
// # Errors
//
// ledger-export-invalid, and ledger-io if r cannot be read. If ctx ends first, the error
// wraps its cause; a read that blocks is not interrupted.
func ReadExport(ctx context.Context, r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		heads := make(map[string]Head)
		seq := int64(0)
		for lines.Scan() {
			seq++
			e, err := parseExportLine(lines.Bytes(), seq, heads)
			if err != nil {
				yield(Event{}, badLine(seq, err))
				return
			}
			if ctx.Err() != nil {
				yield(Event{}, fmt.Errorf("read the export: %w", context.Cause(ctx)))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Event{}, badLine(seq+1, fmt.Errorf("it has more than %d bytes", maxLine)))
		case err != nil:
			yield(Event{}, errs.New(errs.LedgerIO, "read the export: %w", err))
		}
	}
}

// parseExportLine reads the event with number seq and updates the head of its task.
func parseExportLine(line []byte, seq int64, heads map[string]Head) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e, json.RejectUnknownMembers(true)); err != nil {
		return Event{}, textutil.JSONReason(err)
	}
	if err := e.checkForm(); err != nil {
		return Event{}, err
	}
	last, ok := heads[e.Task]
	if !ok {
		last.Hash = Genesis
	}
	switch {
	case e.Seq != seq:
		return Event{}, fmt.Errorf("the ledger continues with event %d where %d is due", e.Seq, seq)
	case e.N != last.N+1:
		return Event{}, fmt.Errorf("task %s continues with event %d where %d is due", e.Task, e.N, last.N+1)
	case e.Prev != last.Hash:
		return Event{}, fmt.Errorf("event %d of task %s does not follow the one before it", e.N, e.Task)
	case e.Hash != e.Sum():
		return Event{}, fmt.Errorf("event %d of task %s is not what its hash was made of", e.N, e.Task)
	}
	heads[e.Task] = Head{N: e.N, Hash: e.Hash}
	return e, nil
}

func badLine(line int64, err error) error {
	return errs.New(errs.LedgerExportInvalid, "line %d of the export: %w", line, err).With("line", line)
}
