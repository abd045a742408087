package supervise

import (
	"os"
	"syscall"
)

// Cleanup describes in one sentence the fate of the processes that a child started.
func Cleanup() string {
	return "what an agent or a command started may go on after it: there are no process groups on Windows"
}

type tree struct{}

func (c *child) launch(s Spec) error {
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       s.CommandLine,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, // Ctrl-C is for us only.
	}
	return s.start(c.cmd)
}

func (c *child) await() error { return c.cmd.Wait() }

// signalAll kills the child unless it only probes, and reports whether it existed.
func (c *child) signalAll(s syscall.Signal) bool {
	if c.hasExited() {
		return false
	}
	if s != probe {
		_ = c.cmd.Process.Kill() // It fails if the child has just ended.
	}
	return true
}

func signalOf(*os.ProcessState) syscall.Signal { return 0 }

func signalName(syscall.Signal) string { return "" }
