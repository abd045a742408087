//go:build unix && !linux

package supervise_test

import "syscall"

// lives reports whether a process exists.
func lives(pid int) bool { return syscall.Kill(pid, 0) == nil }
