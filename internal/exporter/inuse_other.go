//go:build !windows

package exporter

import "syscall"

// inUse is the system's error for an address in use.
func inUse() error { return syscall.EADDRINUSE }
