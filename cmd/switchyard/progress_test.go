package main

import (
	"bytes"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestStatusLinesWithoutTerminal tests that without a terminal there is a line a minute, with
// the time limit, and nothing if standard error is for JSON, as that of a compatible
// verb.
func TestStatusLinesWithoutTerminal(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // A bubble cannot make the first such call.
	const want = "switchyard: verification 60 s of 10 min\nswitchyard: critic (claude) 60 s of 10 min, 7 tokens\nswitchyard: deciding T, 3 min\n"
	for _, c := range []struct {
		output       cli.OutputFormat
		compatErrors bool
		want         string
	}{{"", false, want}, {cli.OutputJSON, false, ""}, {"", true, ""}} {
		synctest.Test(t, func(t *testing.T) {
			var reported bytes.Buffer
			a := &app{Program: cli.Program{Streams: cli.Streams{Err: &reported}, Output: c.output, BareErrors: c.compatErrors}}
			done := a.showLines(func() []string { return []string{""} })
			done() // Short work is not reported.
			start := time.Now()
			done = a.showWork("deciding T")
			a.progress.printLine = nil // Another test covers the start and the end of an agent.
			at := spawner.Progress{Phase: spawner.Running, Agent: "verification", Run: "v", Since: start, Limit: 10 * time.Minute}
			a.progress.update(at)
			time.Sleep(heartbeat + time.Second)
			at.Phase = spawner.Ended
			a.progress.update(at)
			at = spawner.Progress{Phase: spawner.Running, Agent: "critic", Adapter: "claude", Run: "c", Since: start.Add(heartbeat), Limit: 10 * time.Minute, Tokens: 7}
			a.progress.update(at)
			time.Sleep(heartbeat)
			at.Phase = spawner.Ended
			a.progress.update(at)
			time.Sleep(heartbeat)
			done()
			if got := reported.String(); got != c.want {
				t.Errorf("told with --output %s, compatible %v:\n%s", string(c.output), c.compatErrors, got)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min", 119 * time.Minute: "119 min", 24 * time.Hour: "24 h", 10*time.Minute - time.Millisecond: "10 min"} {
		if got := duration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
