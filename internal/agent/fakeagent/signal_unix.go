//go:build unix

package fakeagent

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// detach starts a child in a new session.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

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
