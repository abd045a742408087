//go:build unix

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signals are what presses a process on Unix; signal 0 only asks for it.
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

// signalName is the name of the signal that ended a process, "" where none did.
func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return status.Signal().String() // A real-time signal has a number only.
}
