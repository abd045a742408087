//go:build unix && !linux

package supervise

import "syscall"

// Cleanup describes in one sentence the fate of the processes that a child started.
func Cleanup() string {
	return "what an agent or a command started ends with it, except what left its process group: only Linux finds that"
}

// tree is the child's process group, which has the number of the child.
type tree struct{}

func (c *child) launch(s Spec) error {
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return s.start(c.cmd)
}

// await takes the exit status, so the number of an empty group may be reused afterwards.
// Systems reuse numbers late, and the cleanup is quick.
func (c *child) await() error { return c.cmd.Wait() }

// signalAll signals the group, and reports whether it had a member. On macOS the call fails if
// all members are zombies.
func (c *child) signalAll(s syscall.Signal) bool {
	return syscall.Kill(-c.cmd.Process.Pid, s) == nil
}
