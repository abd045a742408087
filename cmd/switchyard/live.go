package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// quietPeriod is the time before work is reported: most work ends sooner, and a line
// that appears and vanishes only distracts.
const quietPeriod = 300 * time.Millisecond

// heartbeat is the interval of reports without a terminal: an agent's shell or CI may
// take silence for a hang.
const heartbeat = time.Minute

// showCount shows the progress that update reports, until done is called. update is safe for
// concurrent use.
func (a *app) showCount(what string) (update func(at, of int64), done func()) {
	var at, of atomic.Int64
	stop := a.showLines(func() []string { return []string{fmt.Sprintf("%s, %d of %d", what, at.Load(), of.Load())} })
	return func(n, total int64) { at.Store(n); of.Store(total) }, stop
}

// showLines shows status lines until done is called. On a terminal it rewrites them every
// second. Otherwise it writes a new line every minute, unless standard error is for JSON.
func (a *app) showLines(lines func() []string) (done func()) {
	// From now on, a write to a pipe whose reader has exited returns an error. By default,
	// SIGPIPE would end this process before it has ended its agents and its verification. Work that
	// is reported later needs this too, so it is never undone.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stop := make(chan struct{})
	var shown sync.WaitGroup
	f, ok := a.interactive()
	switch {
	case ok:
		a.live = &liveLines{f: f, lines: lines}
		shown.Go(func() { a.live.keep(stop) })
	case a.textErrors():
		shown.Go(func() { a.tick(lines, stop) })
	}
	return func() {
		close(stop)
		shown.Wait()
	}
}

// textErrors reports whether status lines may be written to standard error. If errors are
// JSON, it must contain only the error.
func (a *app) textErrors() bool { return a.Output != cli.OutputJSON && !a.BareErrors }

// tick writes a line every minute until stop is closed.
func (a *app) tick(lines func() []string, stop <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(a.Err, "switchyard: %s\n", textutil.Line(strings.Join(lines(), " · ")))
		case <-stop:
			return
		}
	}
}

// liveLines are lines at the end of a terminal that are rewritten in place. It is safe
// for concurrent use.
type liveLines struct {
	f     *os.File
	lines func() []string
	mu    sync.Mutex
	// shown is the number of lines on the terminal. The cursor is in the last of them.
	shown int
}

// keep rewrites the lines every second until stop is closed, and then removes them.
func (l *liveLines) keep(stop <-chan struct{}) {
	select {
	case <-time.After(quietPeriod):
	case <-stop:
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		l.mu.Lock()
		l.draw()
		l.mu.Unlock()
		select {
		case <-tick.C:
		case <-stop:
			l.mu.Lock()
			defer l.mu.Unlock()
			l.clear()
			return
		}
	}
}

// above removes the lines, calls do, which writes to the terminal, and draws the lines again.
// l may be nil.
func (l *liveLines) above(do func()) {
	if l == nil {
		do()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.shown > 0
	l.clear()
	do()
	if again {
		l.draw()
	}
}

// draw writes the lines, cut to the terminal's width, over the ones that are shown, in one
// call so that they do not flicker.
func (l *liveLines) draw() {
	width, height := 80, 24
	if w, h, err := term.GetSize(int(l.f.Fd())); err == nil && w > 1 && h > 1 {
		width, height = w, h
	}
	lines := l.lines()
	if more := len(lines) - (height - 1); more > 0 {
		lines = append(lines[:height-2:height-2], fmt.Sprintf("… and %d more", more+1))
	}
	for i, line := range lines {
		lines[i] = render.Fit(textutil.Line(line), width-1) + "\x1b[K"
	}
	fmt.Fprint(l.f, l.home()+strings.Join(lines, "\n")+"\x1b[J")
	l.shown = len(lines)
}

func (l *liveLines) clear() {
	if l.shown > 0 {
		fmt.Fprint(l.f, l.home()+"\x1b[J")
	}
	l.shown = 0
}

// home returns the escape sequence that moves the cursor to the beginning of the first line.
func (l *liveLines) home() string {
	if l.shown < 2 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", l.shown-1)
}

// interactive returns standard error if it is a terminal that can rewrite a line.
func (a *app) interactive() (*os.File, bool) {
	f, ok := a.Err.(*os.File)
	return f, ok && isTerminal(f) && os.Getenv("TERM") != "dumb" && render.ShowsColor(f)
}

// isTerminal reports whether a standard stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
