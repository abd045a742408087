package spawner

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The ends of a child that its output gives a reason for.
const (
	// EndBudget: it used more tokens than it may.
	EndBudget supervise.End = "budget"
	// EndHung: it said its last word and did not end.
	EndHung supervise.End = "hung-after-result"
)

// feedChunk is how much of an output is read at a time, in bytes.
const feedChunk = 64 << 10

// outputWatcher hands a child's standard output to its adapter's reader while it grows.
type outputWatcher struct {
	stdout *os.File
	reader *adapter.Reader
	at     int64
	chunk  []byte

	limit           int64         // of tokens, 0 for none
	postResultGrace time.Duration // how long a child may stay after its last word
	now             func() time.Time
	done            time.Time // when it last said something, having said its last word
	progress        func(adapter.Progress)
	reported        adapter.Progress
	err             error
}

// check reads what is new and says why the child has to end, "" if it has not.
func (f *outputWatcher) check() supervise.End {
	grew := f.drain()
	p := f.reader.Progress()
	if p != f.reported && f.progress != nil {
		f.reported = p
		f.progress(p)
	}
	switch {
	case f.limit > 0 && p.Tokens > f.limit:
		return EndBudget
	case !p.Done:
		f.done = time.Time{}
	case grew || f.done.IsZero():
		f.done = f.now() // Some say their last word more than once.
	case f.now().Sub(f.done) > f.postResultGrace:
		return EndHung
	}
	return ""
}

// drain reads all there is, up to maxRead, and reports whether there was anything.
func (f *outputWatcher) drain() (grew bool) {
	if f.chunk == nil {
		f.chunk = make([]byte, feedChunk)
	}
	for f.err == nil && f.at < maxRead {
		n, err := f.stdout.ReadAt(f.chunk, f.at)
		if n > 0 {
			grew = true
			f.at += int64(n)
			_, _ = f.reader.Write(f.chunk[:n]) // What it cannot read, it notes.
		}
		if errors.Is(err, io.EOF) || n == 0 {
			return grew
		}
		f.err = err
	}
	return grew
}
