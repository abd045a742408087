package main

import (
	"os"
	"os/exec"
	"runtime/debug"
	"syscall"
	"testing"
)

// peakMemory returns the maximum resident memory of a process, in bytes.
func peakMemory(cmd *exec.Cmd) (int64, bool) {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss << 10, true // Linux counts in KiB.
}

// resetPeakMemory resets the peak of the test's own process. Linux counts it as the
// child's until the child has executed its program.
func resetPeakMemory(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak includes that of the test: %v", err)
	}
}
