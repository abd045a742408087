package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// quiet is how long work may take before anything is said of it: most is done by
// then, and a line that appears and vanishes is only unrest.
const quiet = 300 * time.Millisecond

// waiting shows on a terminal that work goes on, until the function that it
// returns is called. Elsewhere it shows nothing.
func (a *app) waiting(what string) (done func()) {
	f, ok := a.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" || !showsColor(f) {
		return func() {}
	}
	const clearLine = "\r\x1b[K"
	stop := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		start := time.Now()
		select {
		case <-time.After(quiet):
		case <-stop:
			return
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(f, "%s%s, %d s", clearLine, short(clean(what), 60), int(time.Since(start).Seconds()))
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
