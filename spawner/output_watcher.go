package spawner

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// chunkSize is the number of bytes of an output that are read at a time.
const chunkSize = 64 << 10

// maxCheck bounds the reading in one check, since the limits of the child are not checked
// meanwhile. It is as long as the interval between checks, so that a large output is read for
// at least half of the time.
const maxCheck = 25 * time.Millisecond

// outputWatcher passes a child's standard output to its adapter's reader while it grows.
type outputWatcher struct {
	stdout    *os.File
	reader    *adapter.Reader
	offset    int64
	chunk     []byte
	maxTokens int64 // 0 for no limit
	now       func() time.Time
	done      time.Time // the time of the last output since the final result, zero before that
	progress  func(adapter.Progress)
	reported  adapter.Progress
	read      hash.Hash // of the output before offset
	err       error
}

// check reads new output, or a part of it, and returns the reason to end the child, or "".
func (w *outputWatcher) check() supervise.End {
	began := time.Now()
	grew := w.drain(func() bool { return time.Since(began) > maxCheck })
	p := w.reader.Progress()
	if p != w.reported {
		w.reported = p
		w.progress(p)
	}
	switch {
	case w.maxTokens > 0 && p.Tokens > w.maxTokens && !p.Done:
		return supervise.End(outcome.KilledBudget)
	case !p.Done:
		w.done = time.Time{}
	case grew || w.done.IsZero():
		w.done = w.now() // Some CLIs report a final result more than once.
	case w.now().Sub(w.done) > postResultGrace:
		return supervise.End(outcome.KilledHungAfterResult)
	}
	return ""
}

// drain reads the output, up to maxRead, until stop returns true, and reports whether there was
// any.
func (w *outputWatcher) drain(stop func() bool) (grew bool) {
	if w.chunk == nil {
		w.chunk, w.read = make([]byte, chunkSize), sha256.New()
	}
	for w.err == nil && w.offset < maxRead && !stop() {
		n, err := w.stdout.ReadAt(w.chunk, w.offset)
		if n > 0 {
			grew = true
			w.offset += int64(n)
			_, _ = w.reader.Write(w.chunk[:n]) // Neither fails.
			_, _ = w.read.Write(w.chunk[:n])
		}
		if errors.Is(err, io.EOF) {
			return grew
		}
		w.err = err
	}
	return grew
}

// differs reports whether an output with this digest and size is another one than was read. The
// agent may truncate its output, or write to any place in it.
func (w *outputWatcher) differs(sum string, size int64) bool {
	return size < w.offset || size == w.offset && sum != digest.Bare(digest.OfHash(w.read))
}
