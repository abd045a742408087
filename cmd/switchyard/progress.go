package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/spawner"
)

// progress shows the running agents and verification: since when, for how long at most,
// and with how many tokens so far. A terminal has one line that changes; other outputs
// have a line for each start and end of an agent, unless they are JSON. Its zero value
// is ready. It is safe for concurrent use.
type progress struct {
	mu   sync.Mutex
	runs map[string]spawner.Progress
	// tell prints a line; it is nil if a terminal shows the runs.
	tell func(format string, args ...any)
}

// waiting shows that work is running until done is called: the spawned agents, or what if
// none runs.
func (a *app) waiting(what string) (done func()) {
	start := time.Now()
	if _, ok := a.interactive(); !ok && a.reports() {
		a.progress.tell = func(format string, args ...any) {
			fmt.Fprintf(a.err, "switchyard: %s\n", textutil.Line(fmt.Sprintf(format, args...)))
		}
	}
	return a.ticking(func() string {
		if line := a.progress.line(time.Now()); line != "" {
			return line
		}
		return fmt.Sprintf("%s, %s", what, duration(time.Since(start)))
	})
}

// update records an agent's progress.
func (p *progress) update(at spawner.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, known := p.runs[at.Run]
	if p.runs == nil {
		p.runs = make(map[string]spawner.Progress)
	}
	p.runs[at.Run] = at
	if at.Phase == spawner.Ended || at.Phase == spawner.Retrying {
		delete(p.runs, at.Run)
	}
	if p.tell == nil || at.Adapter == "" {
		return // A terminal shows a verification only if it takes long.
	}
	switch {
	case at.Phase == spawner.Queued:
		p.tell("%s waits for another to end", at.Agent)
	case at.Phase == spawner.Running && (!known || before.Phase != spawner.Running):
		attempt := ""
		if at.Attempt > 1 {
			attempt = fmt.Sprintf(", attempt %d", at.Attempt)
		}
		p.tell("%s runs%s", who(at), attempt)
	case at.Phase == spawner.Ended:
		ended := at.Outcome
		if at.Reason != "" {
			ended += ", " + at.Reason
		}
		if at.Tokens > 0 {
			ended += fmt.Sprintf(", %d tokens", at.Tokens)
		}
		p.tell("%s ends after %s: %s", who(at), at.Took.Round(10*time.Millisecond), ended)
	case at.Phase == spawner.Retrying:
		p.tell("%s is tried again in %s", who(at), at.Pause.Round(100*time.Millisecond))
	}
}

// line returns the line for a terminal, or "" if no agent runs.
func (p *progress) line(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var words []string
	for _, run := range slices.Sorted(maps.Keys(p.runs)) {
		at := p.runs[run]
		text := fmt.Sprintf("%s %s", who(at), duration(now.Sub(at.Since)))
		if at.Limit > 0 {
			text += " of " + duration(at.Limit)
		}
		switch {
		case at.Phase == spawner.Queued:
			text = fmt.Sprintf("%s waits for a slot, %s", at.Agent, duration(now.Sub(at.Since)))
		case at.Tokens > 0:
			text += fmt.Sprintf(", %d tokens", at.Tokens)
		}
		words = append(words, text)
	}
	return strings.Join(words, " · ")
}

func who(at spawner.Progress) string {
	if at.Adapter == "" {
		return at.Agent
	}
	return fmt.Sprintf("%s (%s)", at.Agent, at.Adapter)
}

// duration formats a duration: in seconds, in minutes from two minutes on, and in hours
// from two hours on.
func duration(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
}

// quietPeriod is the time before work is reported: most work ends sooner, and a line
// that appears and vanishes only distracts.
const quietPeriod = 300 * time.Millisecond

// heartbeat is the interval of reports without a terminal: an agent's shell or CI may
// take silence for a hang.
const heartbeat = time.Minute

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
