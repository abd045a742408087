package exporter

import "golang.org/x/sys/windows"

// inUse is the system's error for an address that somebody listens on.
func inUse() error { return windows.WSAEADDRINUSE }
