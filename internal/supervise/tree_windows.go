package supervise

import (
	"os"
	"syscall"
)

// tree is empty: of what a child starts, we know nothing.
type tree struct{}

func (c *child) launch(s Spec) error {
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       s.CommandLine,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, // A Ctrl-C is for us alone.
	}
	return c.cmd.Start()
}

func (c *child) await() error { return c.cmd.Wait() }

// signalAll kills the child unless it only looks, and reports whether it was there.
func (c *child) signalAll(f pressure) bool {
	if c.hasExited() {
		return false
	}
	if f != probe {
		_ = c.cmd.Process.Kill() // It fails where the child has just ended.
	}
	return true
}

// signalName is "": Windows has no signals.
func signalName(*os.ProcessState) string { return "" }
