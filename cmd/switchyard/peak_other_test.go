//go:build !linux

package main

import (
	"os/exec"
	"testing"
)

// peakMemory is not supported here.
func peakMemory(*exec.Cmd) (int64, bool) { return 0, false }

// resetPeakMemory does nothing: memory is not measured here.
func resetPeakMemory(*testing.T) {}
