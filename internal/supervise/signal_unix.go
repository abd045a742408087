//go:build unix

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOf returns the signal that ended a process, or 0.
func signalOf(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// signalName returns the name of a signal, "" for 0. Real-time signals have only numbers.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" || s == 0 {
		return name
	}
	return s.String()
}
