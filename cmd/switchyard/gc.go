package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// maxHeap is the heap size in bytes from which the garbage collector runs in a short
// command. Nearly all rounds end long before.
const maxHeap = 384 << 20

// deferGC puts off garbage collection, which would take a tenth of the time of a
// command that lives for some milliseconds.
func deferGC() {
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), maxHeap))
	debug.SetGCPercent(-1)
}

// isShort reports whether a command only decides on reports, or lists, and ends. One
// that spawns agents waits for them, and their output can be large.
func isShort(cmd *cobra.Command) bool {
	switch cmd.CommandPath() {
	case "switchyard route", "switchyard status", "switchyard plugin run", "switchyard plugin bench":
		return true
	default:
		return cmd.Flags().Changed("report") && !cmd.Flags().Changed("spawn")
	}
}
