package policyset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
)

type eventSource struct {
	// ledger has the decisions, unless export is set. Policies are always looked up in it.
	ledger *ledger.Ledger
	export *os.File
}

func (s eventSource) close() {
	if s.export != nil {
		_ = s.export.Close() // It was only read.
	}
	_ = s.ledger.Close() // It was only read.
}

// openSource opens the project's ledger, or another one by its path.
func (s *Set) openSource(ctx context.Context, path string) (eventSource, error) {
	if path == "" {
		own, err := s.opts.Ledger(ctx)
		return eventSource{ledger: own}, err
	}
	full, err := s.opts.Project.Resolve(path)
	if err != nil {
		return eventSource{}, err
	}
	f, err := safefile.OpenPath(full)
	if err != nil {
		return eventSource{}, errUnusable(path, err)
	}
	head := make([]byte, len(magic))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return eventSource{}, errors.Join(errUnusable(path, err), f.Close())
	}
	if string(head[:n]) != magic {
		own, err := s.opts.Ledger(ctx)
		if err != nil {
			return eventSource{}, errors.Join(err, f.Close())
		}
		return eventSource{ledger: own, export: f}, nil
	}
	if err := f.Close(); err != nil {
		return eventSource{}, errUnusable(path, err)
	}
	other, err := ledger.OpenFile(ctx, full)
	return eventSource{ledger: other}, err
}

// magic is the beginning of an SQLite database.
const magic = "SQLite format 3\x00"

func errUnusable(path string, err error) error {
	code := errs.FileUnreadable
	if errors.Is(err, fs.ErrNotExist) {
		code = errs.FileNotFound
	}
	return errs.New(code, "%s: %w", path, safefile.Reason(err)).With("path", path)
}

// decisions yields the events of decisions recorded since a time, up to the event through
// unless it is 0. It also returns the number of the last event in range, 0 if unknown.
func (s eventSource) decisions(ctx context.Context, since time.Time, through int64) (iter.Seq2[ledger.Event, error], int64, error) {
	if through < 0 {
		return nil, 0, fmt.Errorf("the number of an event cannot be %d", through)
	}
	if s.export != nil {
		return exportedDecisions(ctx, s.export, since, through), through, nil
	}
	last, err := s.ledger.Last(ctx)
	if err != nil {
		return nil, 0, err
	}
	if through == 0 || through > last {
		through = last
	}
	return s.ledger.Select(ctx, ledger.Selection{Kind: string(task.KindDecided), Through: through, Since: since}), through, nil
}

// exportedDecisions is decisions for an export. It checks all chains.
func exportedDecisions(ctx context.Context, r io.Reader, since time.Time, through int64) iter.Seq2[ledger.Event, error] {
	if through == 0 {
		through = math.MaxInt64
	}
	return func(yield func(ledger.Event, error) bool) {
		for event, err := range ledger.ReadExport(ctx, r) {
			wanted := err != nil || event.Kind == string(task.KindDecided) && event.Seq <= through && !event.Time().Before(since)
			if wanted && !yield(event, err) {
				return
			}
		}
	}
}
