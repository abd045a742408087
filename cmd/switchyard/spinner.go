package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// quietPeriod is the time before work is reported: most work ends sooner, and a line
// that appears and vanishes only distracts.
const quietPeriod = 300 * time.Millisecond

// heartbeat is the interval of reports without a terminal: an agent's shell or CI may
// take silence for a hang.
const heartbeat = time.Minute

// waiting shows that work is running, until done is called.
func (a *app) waiting(what string) (done func()) {
	start := time.Now()
	return a.ticking(func() string { return fmt.Sprintf("%s, %s", what, duration(time.Since(start))) })
}

// counting shows the progress that see reports, until done is called. see is safe for
// concurrent use.
func (a *app) counting(what string) (see func(at, of int64), done func()) {
	var at, of atomic.Int64
	stop := a.ticking(func() string { return fmt.Sprintf("%s, %d of %d", what, at.Load(), of.Load()) })
	return func(n, total int64) { at.Store(n); of.Store(total) }, stop
}

// ticking shows a status line until done is called: on a terminal it is rewritten every
// second, otherwise a new line is written every minute, unless standard error is for
// JSON.
func (a *app) ticking(line func() string) (done func()) {
	stop := make(chan struct{})
	var shown sync.WaitGroup
	f, ok := a.interactive()
	switch {
	case ok:
		shown.Go(func() { keepLine(f, line, stop) })
	case a.reports():
		shown.Go(func() { a.tick(line, stop) })
	}
	return func() {
		close(stop)
		shown.Wait()
	}
}

// reports reports whether status lines may be written to standard error. If errors are
// JSON, it must have nothing but the error.
func (a *app) reports() bool { return a.output != outputJSON && !a.compatErrors }

// tick writes a line every minute until stop is closed.
func (a *app) tick(line func() string, stop <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(a.err, "switchyard: %s\n", textutil.Line(line()))
		case <-stop:
			return
		}
	}
}

// keepLine rewrites a line of a terminal every second until stop is closed.
func keepLine(f *os.File, line func() string, stop <-chan struct{}) {
	const clearLine = "\r\x1b[K"
	select {
	case <-time.After(quietPeriod):
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
		fmt.Fprintf(f, "%s%s", clearLine, render.Fit(textutil.Line(line()), width-1))
		select {
		case <-tick.C:
		case <-stop:
			fmt.Fprint(f, clearLine)
			return
		}
	}
}

// interactive returns standard error if it is a terminal that can rewrite a line.
func (a *app) interactive() (*os.File, bool) {
	f, ok := a.err.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && render.ShowsColor(f)
}
