//go:build !linux

package main

import "os/exec"

// peakMemory is not supported here.
func peakMemory(*exec.Cmd) (int64, bool) { return 0, false }
