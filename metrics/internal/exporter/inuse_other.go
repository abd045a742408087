//go:build !windows

package exporter

import "syscall"

// inUse is the system's error for an address that somebody listens on.
func inUse() error { return syscall.EADDRINUSE }
