package host

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

// records are where recorded rounds come from.
type records struct {
	// ledger has them, unless export does. It is also where policies are looked up.
	ledger *ledger.Ledger
	export *os.File
}

func (s records) close() {
	if s.export != nil {
		_ = s.export.Close() // It was only read.
	}
	_ = s.ledger.Close() // Nothing was written to it.
}

// records opens the project's own ledger, or another one.
func (e *Engine) records(ctx context.Context, path string) (records, error) {
	if path == "" {
		own, err := e.ledger(ctx)
		return records{ledger: own}, err
	}
	full, err := e.project.Resolve(path)
	if err != nil {
		return records{}, err
	}
	f, err := safefile.OpenPath(full)
	if err != nil {
		return records{}, unusable(path, err)
	}
	head := make([]byte, len(magic))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return records{}, errors.Join(unusable(path, err), f.Close())
	}
	if string(head[:n]) != magic {
		own, err := e.ledger(ctx)
		if err != nil {
			return records{}, errors.Join(err, f.Close())
		}
		return records{ledger: own, export: f}, nil
	}
	if err := f.Close(); err != nil {
		return records{}, unusable(path, err)
	}
	other, err := ledger.OpenFile(ctx, full)
	return records{ledger: other}, err
}

// magic is how a database of SQLite's begins.
const magic = "SQLite format 3\x00"

func unusable(path string, err error) error {
	code := errs.FileUnreadable
	if errors.Is(err, fs.ErrNotExist) {
		code = errs.FileNotFound
	}
	return errs.New(code, "%s: %w", path, safefile.Reason(err)).With("path", path)
}

// decided yields the events of rounds that were decided since a time, up to an event,
// where it is not 0, and says which event of the ledger is the last that counts, 0
// where nobody knows.
func (s records) decided(ctx context.Context, since time.Time, through int64) (iter.Seq2[ledger.Event, error], int64, error) {
	if through < 0 {
		return nil, 0, fmt.Errorf("event %d is none", through)
	}
	if s.export != nil {
		return exportedRounds(ctx, s.export, since, through), through, nil
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

// exportedRounds is decided for an export, all of which is checked.
func exportedRounds(ctx context.Context, r io.Reader, since time.Time, through int64) iter.Seq2[ledger.Event, error] {
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
