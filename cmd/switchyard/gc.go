package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// maxHeap is the heap size in bytes at which garbage collection starts in a short
// command. Nearly all rounds end long before.
const maxHeap = 384 << 20

// deferGC delays garbage collection, which would take a tenth of the time of a command
// that runs for a few milliseconds.
func deferGC() {
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), maxHeap))
	debug.SetGCPercent(-1)
}

// isShort reports whether a command only decides on reports or lists something. A
// command that spawns agents waits for them, and their output can be large.
func isShort(cmd *cobra.Command) bool {
	switch cmd.CommandPath() {
	case "switchyard route", "switchyard status", "switchyard plugin run", "switchyard plugin bench":
		return true
	default:
		return cmd.Flags().Changed("report") && !cmd.Flags().Changed("spawn")
	}
}
