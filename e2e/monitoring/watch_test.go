package monitoring

import (
	"context"
	"testing"
	"time"
)

// watcher reads a program's metrics continuously, more often than Prometheus does.
type watcher struct {
	t    *testing.T
	from *daemon
	stop context.CancelFunc
	done chan struct{}
	// reads is the number of reads. It is set when done is closed.
	reads int
}

// watch starts to read. A failed read, an invalid text format, or a counter that fell
// fails the test.
func watch(t *testing.T, d *daemon) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{t: t, from: d, stop: cancel, done: make(chan struct{})}
	go w.loop(ctx)
	return w
}

func (w *watcher) loop(ctx context.Context) {
	defer close(w.done)
	before := make(series)
	for {
		text, err := w.from.get(ctx, "/metrics")
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.t.Errorf("%s: %v", w.from.name, err)
			return
		}
		now, err := parse(text)
		if err != nil {
			w.t.Errorf("%s shows no metrics: %v", w.from.name, err)
			return
		}
		if fallen := before.fallen(now); fallen != nil {
			w.t.Errorf("%s: %q", w.from.name, fallen)
			return
		}
		before = now
		w.reads++
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// finish ends the watcher. It must have read several times.
func (w *watcher) finish() {
	w.t.Helper()
	w.stop()
	<-w.done
	if w.reads < 3 {
		w.t.Errorf("%s was read only %d times", w.from.name, w.reads)
	}
	w.t.Logf("%s was read %d times", w.from.name, w.reads)
}
