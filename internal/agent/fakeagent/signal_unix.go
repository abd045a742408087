//go:build unix

package fakeagent

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// detach gives a child a session of its own.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// kill ends this process by a signal.
func kill(name string) error {
	s, ok := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
		"SEGV": syscall.SIGSEGV, "ABRT": syscall.SIGABRT}[name]
	if !ok {
		return fmt.Errorf("there is no signal %q to die of", name)
	}
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // The signal is on its way.
	return fmt.Errorf("%s did not end us", name)
}
