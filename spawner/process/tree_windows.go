package process

import (
	"os"
	"syscall"
)

// tree is empty: of what a child starts, we know nothing.
type tree struct{}

func (c *child) prepare(s Spec) error {
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       s.CommandLine,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, // A Ctrl-C is for us alone.
	}
	return nil
}

func (c *child) await() error { return c.cmd.Wait() }

func (c *child) reap() error { return c.waited }

// press kills the child unless it only looks, and reports whether it was there.
func (c *child) press(f force) bool {
	select {
	case <-c.exited:
		return false
	default:
	}
	if f != probe {
		_ = c.cmd.Process.Kill() // It fails where the child has just ended.
	}
	return true
}

// signalName is "": Windows has no signals.
func signalName(*os.ProcessState) string { return "" }
