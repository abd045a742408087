package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

// observed shows the progress of spawned agents until done is called. If no agent runs,
// it shows what.
func (a *app) observed(what string) (done func()) {
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
		p.tell("%s runs%s", who(at), again(at))
	case at.Phase == spawner.Ended:
		p.tell("%s ends after %s: %s", who(at), at.Took.Round(10*time.Millisecond), ended(at))
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

func again(at spawner.Progress) string {
	if at.Attempt > 1 {
		return fmt.Sprintf(", attempt %d", at.Attempt)
	}
	return ""
}

func ended(at spawner.Progress) string {
	text := at.Outcome
	if at.Reason != "" {
		text += ", " + at.Reason
	}
	if at.Tokens > 0 {
		text += fmt.Sprintf(", %d tokens", at.Tokens)
	}
	return text
}
