package plugins_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// in has the processors and the garbage collections of a test.
func in(t *testing.T, processors int, collecting bool) {
	t.Helper()
	before := runtime.GOMAXPROCS(processors)
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for collecting {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		<-stopped
		runtime.GOMAXPROCS(before)
	})
}

// TestGuestsEndWithTheirTime has guests that would run for ever, each in its own
// way, by the compiler and by the interpreter, with one processor, and with the
// garbage collector at work, which waits for every guest.
func TestGuestsEndWithTheirTime(t *testing.T) {
	for _, how := range []struct {
		name       string
		processors int
		collecting bool
		interpret  bool
	}{
		{"compiled", runtime.GOMAXPROCS(0), false, false},
		{"on one processor", 1, false, false},
		{"while garbage is collected", runtime.GOMAXPROCS(0), true, false},
		{"on one processor while garbage is collected", 1, true, false},
		{"interpreted", runtime.GOMAXPROCS(0), false, true},
	} {
		t.Run(how.name, func(t *testing.T) {
			in(t, how.processors, how.collecting)
			limit := 50 * time.Millisecond
			r := newRuntime(t, plugins.Config{Limits: abi.Limits{Time: limit, Memory: 40 << 20}, Interpret: how.interpret})
			doc := jsonDocument(t, `{"findings":[]}`)
			puppet, storm := load(t, r, "puppet"), load(t, r, "storm")
			ends := func(name string, run func() error) {
				if err := run(); errs.CodeOf(err) != errs.PluginTimeout {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, do := range []string{"loop", "calls", "x: exponential calls", "indirect", "joint", "fill storm", "grow memory in a loop"} {
				ends(do, func() error {
					_, err := puppet.Normalize(t.Context(), doc, jsontext.Value(`{"do":"`+do+`"}`))
					return err
				})
			}
			for _, do := range []string{"random", "through a table", "write", "poll"} {
				ends(do, func() error {
					_, err := storm.Normalize(t.Context(), doc, jsontext.Value(`{"do":"`+do+`"}`))
					return err
				})
			}
			for _, name := range []string{"endless-initialize", "endless-start", "endless-describe"} {
				ends(name, func() error {
					_, err := r.Load(t.Context(), hostile(t, name))
					return err
				})
			}
			ends("endless-alloc", func() error {
				_, err := load(t, r, "endless-alloc").Normalize(t.Context(), doc, nil)
				return err
			})
			// On a busy machine a well-behaved call may be late, too.
			good := answer(`{"critic":"puppet","findings":[],"skipped":[]}`)
			_, err := puppet.Normalize(t.Context(), doc, good)
			for errs.CodeOf(err) == errs.PluginTimeout {
				_, err = puppet.Normalize(t.Context(), doc, good)
			}
			if err != nil {
				t.Errorf("a well-behaved call fails afterwards: %v", err)
			}
		})
	}
}

// TestNothingLeaks runs good and hostile guests in turn.
func TestNothingLeaks(t *testing.T) {
	calls := exhaustive.Count(500, 10_000)
	r := newRuntime(t, plugins.Config{Limits: abi.Limits{Time: 3 * time.Millisecond, Memory: 4 << 20, Output: 1 << 20}})
	puppet := load(t, r, "puppet")
	doc := jsonDocument(t, `{"puppet":true,"findings":[]}`)
	good := answer(`{"critic":"puppet","findings":[],"skipped":[]}`)
	ways := []string{"x", "trap", "huge", "outside", "nothing", "zero", "memory", "recurse", "vast", "indirect", "grow"}
	run := func(calls int) {
		for i := range calls {
			config := good
			if i%2 == 1 {
				config = jsontext.Value(`{"do":"` + ways[i/2%len(ways)] + `"}`)
			}
			_, err := puppet.Normalize(t.Context(), doc, config)
			if i%2 == 1 && err == nil {
				t.Fatalf("%s succeeds", config)
			}
			if i%500 == 0 {
				cancelled, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := puppet.Normalize(cancelled, doc, good); !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v, want context.Canceled", err)
				}
			}
		}
	}
	run(100)
	before := resources(t)
	run(calls)
	after := resources(t)
	if after.goroutines > before.goroutines || after.files > before.files || after.heap > before.heap+4<<20 {
		t.Errorf("%+v before, %+v after %d calls", before, after, calls)
	}
}

type usage struct {
	goroutines, files int
	heap              uint64
}

func resources(t *testing.T) usage {
	t.Helper()
	var memory runtime.MemStats
	for range 3 { // What a finalizer frees is gone with the next one.
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	runtime.ReadMemStats(&memory)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		files = nil // Not on Linux.
	}
	return usage{runtime.NumGoroutine(), len(files), memory.HeapAlloc}
}
