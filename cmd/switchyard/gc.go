package main

import "runtime/debug"

// collectAbove is the heap size from which the garbage collector runs, in
// bytes. Nearly every round ends long before.
const collectAbove = 384 << 20

// collectLate puts off garbage collection: a command that decides lives for some
// milliseconds, of which collecting takes a tenth, and ends.
func collectLate() {
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), collectAbove))
	debug.SetGCPercent(-1)
}
