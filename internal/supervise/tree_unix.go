//go:build unix && !linux

package supervise

import "syscall"

// tree is the child's process group, whose number is the child's.
type tree struct{}

func (c *child) launch(Spec) error {
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c.cmd.Start()
}

// await takes the exit status, so the number of an empty group is free from then
// on. Systems hand numbers out in turn, and we use it for no longer than cleaning
// up takes.
func (c *child) await() error { return c.cmd.Wait() }

// signalAll signals the group, and reports whether anybody was there. A system that
// refuses, as macOS does where all of the group are dead, has nobody for us.
func (c *child) signalAll(f pressure) bool {
	return syscall.Kill(-c.cmd.Process.Pid, f.signal()) == nil
}
