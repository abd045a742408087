//go:build !linux

package supervise

import (
	"context"
	"time"
)

// On these systems orphans are not reparented to us, so we cannot find or reap them.

func adopt() error { return nil }

func reserve(folder string) Identity { return Identity{Folder: folder} }

func (c *child) identity(s Spec) Identity {
	return Identity{PID: c.cmd.Process.Pid, Folder: s.Reserved.Folder}
}

// reap returns the error of await, which took the exit status.
func (c *child) reap() error { return c.waited }

func (c *child) release() {}

func (c *child) reapOrphans() {}

func (*Supervisor) sweep(context.Context, Identity, time.Duration) (int, error) { return 0, nil }
