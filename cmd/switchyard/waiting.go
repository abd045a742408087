package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// quiet is how long work may take before anything is said of it: most is done by
// then, and a line that appears and vanishes is only unrest.
const quiet = 300 * time.Millisecond

// waiting shows on a terminal that work goes on, until the function that it
// returns is called. Elsewhere it shows nothing.
func (a *app) waiting(what string) (done func()) {
	start := time.Now()
	return a.ticking(func() string { return fmt.Sprintf("%s, %d s", what, int(time.Since(start).Seconds())) })
}

// counting shows on a terminal how far work has come, as see tells it, until done
// is called. see may be called by several goroutines at once.
func (a *app) counting(what string) (see func(at, of int64), done func()) {
	var at, of atomic.Int64
	stop := a.ticking(func() string { return fmt.Sprintf("%s, %d of %d", what, at.Load(), of.Load()) })
	return func(n, total int64) { at.Store(n); of.Store(total) }, stop
}

// ticking shows on a terminal a line that says how work goes, anew every second.
func (a *app) ticking(line func() string) (done func()) {
	f, ok := a.lively()
	if !ok {
		return func() {}
	}
	const clearLine = "\r\x1b[K"
	stop := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		select {
		case <-time.After(quiet):
		case <-stop:
			return
		}
		width := 80
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 1 {
			width = w
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(f, "%s%s", clearLine, fit(clean(line()), width-1))
			select {
			case <-tick.C:
			case <-stop:
				fmt.Fprint(f, clearLine)
				return
			}
		}
	})
	return func() {
		close(stop)
		shown.Wait()
	}
}

// lively returns standard error, if it is a terminal that can rewrite a line.
func (a *app) lively() (*os.File, bool) {
	f, ok := a.err.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && showsColor(f)
}
