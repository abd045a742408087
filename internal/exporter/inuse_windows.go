package exporter

import "golang.org/x/sys/windows"

// inUse is the system's error for an address in use.
func inUse() error { return windows.WSAEADDRINUSE }
