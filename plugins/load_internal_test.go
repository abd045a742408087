package plugins

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// TestCancelledLoadKeepsThePlugin cancels the first of two callers that load one module. A later
// caller must not compile it again.
func TestCancelledLoadKeepsThePlugin(t *testing.T) {
	guest, _ := builtin.Find("np-critic")
	r := New(Config{})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	p := &Plugin{runtime: r, code: &code{wasm: guest.Wasm}}
	r.loaded[digest.Of(guest.Wasm)] = p
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	first, second := make(chan error, 1), make(chan error, 1)
	load := func(ctx context.Context, done chan<- error) {
		_, err := r.Load(ctx, guest.Wasm)
		done <- err
	}
	p.mu.Lock() // Both callers wait, the cancelled one first.
	go load(cancelled, first)
	time.Sleep(50 * time.Millisecond)
	go load(t.Context(), second)
	time.Sleep(50 * time.Millisecond)
	p.mu.Unlock()
	if err := <-first; err != nil && !errors.Is(err, context.Canceled) { // The second may have been faster.
		t.Errorf("the cancelled caller got %v", err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	if again, err := r.Load(t.Context(), guest.Wasm); again != p || err != nil {
		t.Errorf("got %p and %v, want %p", again, err, p)
	}
}
