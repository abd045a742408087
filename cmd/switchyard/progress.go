package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/spawner"
)

// progress shows the running agents and verification: since when, for how long at most,
// and with how many tokens so far. A terminal has a line for each that changes; other
// outputs have a line for each start and end of an agent, unless they are JSON. Its zero
// value is ready. It is safe for concurrent use.
type progress struct {
	mu   sync.Mutex
	runs map[string]spawner.Progress
	// tasks is set if several tasks run, so that lines name theirs.
	tasks bool
	// printLine is nil if a terminal shows the runs.
	printLine func(format string, args ...any)
}

// showWork shows the running agents, or what if no agent runs, until done is called.
func (a *app) showWork(what string) (done func()) {
	if _, ok := a.interactive(); !ok && a.textErrors() {
		a.progress.printLine = func(format string, args ...any) {
			fmt.Fprintf(a.Err, "switchyard: %s\n", textutil.Line(fmt.Sprintf(format, args...)))
		}
	}
	return a.showRuns(what)
}

// showRuns is showWork without a line for each start and end of an agent.
func (a *app) showRuns(what string) (done func()) {
	start := time.Now()
	return a.showLines(func() []string {
		if lines := a.progress.lines(time.Now()); len(lines) > 0 {
			return lines
		}
		return []string{fmt.Sprintf("%s, %s", what, duration(time.Since(start)))}
	})
}

func (p *progress) update(at spawner.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.runs[at.Run]
	if p.runs == nil {
		p.runs = make(map[string]spawner.Progress)
	}
	p.runs[at.Run] = at
	if at.Phase == spawner.Ended || at.Phase == spawner.Retrying {
		delete(p.runs, at.Run)
	}
	if p.printLine == nil || at.Adapter == "" {
		return // A terminal shows a verification only if it takes long.
	}
	switch {
	case at.Phase == spawner.Queued:
		p.printLine("%s waits for another to end", at.Agent)
	case at.Phase == spawner.Running && before.Phase != spawner.Running:
		attempt := ""
		if at.Attempt > 1 {
			attempt = fmt.Sprintf(", attempt %d", at.Attempt)
		}
		p.printLine("%s runs%s", agentName(at), attempt)
	case at.Phase == spawner.Ended && at.Outcome != "":
		ended := at.Outcome
		if at.Reason != "" && at.Reason != at.Outcome {
			ended += ", " + at.Reason
		}
		if at.Tokens > 0 {
			ended += fmt.Sprintf(", %d tokens", at.Tokens)
		}
		p.printLine("%s ends after %s: %s", agentName(at), at.Took.Round(10*time.Millisecond), ended)
	case at.Phase == spawner.Retrying:
		p.printLine("%s is tried again in %s", agentName(at), at.Pause.Round(100*time.Millisecond))
	}
}

// lines returns a line for each running agent, the oldest first.
func (p *progress) lines(now time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	runs := slices.SortedFunc(maps.Values(p.runs), func(a, b spawner.Progress) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Run, b.Run))
	})
	for _, at := range runs {
		text := fmt.Sprintf("%s %s", agentName(at), duration(now.Sub(at.Since)))
		if at.Limit > 0 {
			text += " of " + duration(at.Limit)
		}
		switch {
		case at.Phase == spawner.Queued:
			text = fmt.Sprintf("%s waits for a slot, %s", at.Agent, duration(now.Sub(at.Since)))
		case at.Tokens > 0:
			text += fmt.Sprintf(", %d tokens", at.Tokens)
		}
		for _, word := range []string{at.Tool, at.Note} {
			if word != "" {
				text += ", " + word
			}
		}
		if p.tasks && at.Task != "" {
			text = at.Task + "  " + text
		}
		lines = append(lines, text)
	}
	return lines
}

func agentName(at spawner.Progress) string {
	if at.Adapter == "" {
		return at.Agent
	}
	return fmt.Sprintf("%s (%s)", at.Agent, at.Adapter)
}

// duration formats a duration: in seconds, in minutes from two minutes on, and in hours
// from two hours on. It rounds, because the limit of an attempt lacks the moment before it.
func duration(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
}
