//go:build unix

package fakeagent

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// detach starts a child in a new session.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func kill(name string) error {
	s := unix.SignalNum("SIG" + name)
	if s == 0 {
		return fmt.Errorf("there is no signal %q to die of", name)
	}
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // The signal is on its way.
	return fmt.Errorf("%s did not end us", name)
}
