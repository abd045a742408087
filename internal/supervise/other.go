//go:build !linux

package supervise

import (
	"context"
	"time"
)

// Where orphans do not come to us, there is nobody to reap, to tell apart or to find
// again.

func adopt() error { return nil }

func reserve(folder string) Identity { return Identity{Folder: folder} }

func (c *child) identity(s Spec) Identity {
	return Identity{PID: c.cmd.Process.Pid, Folder: s.Reserved.Folder}
}

// reap has nothing to do: the exit status came with the end.
func (c *child) reap() error { return c.waited }

func (c *child) release() {}

func (c *child) reapOrphans() {}

func (*Supervisor) sweep(context.Context, Identity, time.Duration) (int, error) { return 0, nil }
