package main

import (
	"os/exec"
	"syscall"
)

// peakMemory returns the maximum resident memory of a process, in bytes.
func peakMemory(cmd *exec.Cmd) (int64, bool) {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss << 10, true // Linux counts in KiB.
}
