package main

import (
	"runtime"
	"runtime/debug"
)

// collectAbove is the heap size from which the garbage collector runs, in
// bytes. Nearly every round ends long before.
const collectAbove = 384 << 20

// outliveGuests sees to it that a runaway guest cannot keep the process from
// failing at the deadline and ending (ADR-0006). Compiled guest code runs on a
// thread that Go can neither preempt nor stop: there has to be a second
// processor for everything else, and nothing may wait for all threads to stop,
// as a garbage collection does.
func outliveGuests() {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), collectAbove))
	debug.SetGCPercent(-1)
}
