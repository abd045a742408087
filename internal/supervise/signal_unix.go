//go:build unix

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signal is the signal for this pressure; 0 only checks for existence.
func (f pressure) signal() syscall.Signal {
	switch f {
	case soft:
		return syscall.SIGTERM
	case hard:
		return syscall.SIGKILL
	default:
		return 0
	}
}

// signalName is the name of the signal that ended a process, "" for none.
func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return status.Signal().String() // Real-time signals have numbers only.
}
